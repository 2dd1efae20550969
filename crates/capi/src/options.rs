//! Construction options of an index.

#![expect(non_camel_case_types, reason = "C's names")]

use crate::failure::Failure;
use crate::key::{KeyKind, ValueKind, latchless_key_kind, latchless_value_kind};
use core::num::NonZeroUsize;
use core::ptr;
use engine::index::{Group, Options};
use engine::{FillFactor, Kernel};

/// The instruction set that searches in nodes use.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub enum latchless_kernel {
    /// The fastest one that the processor has.
    LATCHLESS_KERNEL_FASTEST = 0,
    /// No vector instructions.
    LATCHLESS_KERNEL_SCALAR = 1,
    /// AVX2, on x86-64.
    LATCHLESS_KERNEL_AVX2 = 2,
    /// AVX-512, on x86-64.
    LATCHLESS_KERNEL_AVX512 = 3,
    /// NEON, on AArch64.
    LATCHLESS_KERNEL_NEON = 4,
}

/// The kernels by their numbers in C.
const KERNELS: [(latchless_kernel, Option<Kernel>); 5] = [
    (latchless_kernel::LATCHLESS_KERNEL_FASTEST, None),
    (latchless_kernel::LATCHLESS_KERNEL_SCALAR, Some(Kernel::Scalar)),
    (latchless_kernel::LATCHLESS_KERNEL_AVX2, Some(Kernel::Avx2)),
    (latchless_kernel::LATCHLESS_KERNEL_AVX512, Some(Kernel::Avx512)),
    (latchless_kernel::LATCHLESS_KERNEL_NEON, Some(Kernel::Neon)),
];

/// Options of a new index. Call latchless_options_init() first, then change fields. Functions that take
/// options accept NULL for the defaults.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct latchless_options {
    /// The size of this structure in the program, set by latchless_options_init(). Newer versions of the
    /// library may append fields.
    pub struct_size: usize,
    /// The largest number of bytes that the index may hold, as `memory_bytes` in latchless_stats counts
    /// them. Default: SIZE_MAX, no limit.
    pub limit_bytes: usize,
    /// The fill of nodes after a bulk load or the opening of a file, from 0.01 to 1.0. Default: 0.8. With
    /// 1.0 the index is smallest; choose it if no keys will be inserted.
    pub fill: f64,
    /// The number of threads for a bulk load. Default: 1.
    pub threads: usize,
    /// The requests of a batch that are processed together, at most 128. Default: 0, chosen at run time.
    pub group: usize,
    /// A latchless_kernel. Default: LATCHLESS_KERNEL_FASTEST.
    pub kernel: u32,
    /// 1: request huge pages from the system. 0: don't. Default: 1.
    pub huge_pages: u8,
    /// 1: a thread of the library prepares memory before inserts need it, so that inserts don't wait for
    /// page faults. Needs Linux 5.14 or later. Default: 0.
    pub prefault: u8,
    /// A latchless_key_kind, for a latchless_index. Default: LATCHLESS_KEY_U64.
    pub key_kind: u8,
    /// A latchless_value_kind, for a latchless_bytes. Default: LATCHLESS_VALUE_WORD.
    pub value_kind: u8,
}

impl Default for latchless_options {
    fn default() -> Self {
        let Options { limit_bytes, huge_pages, prefault, .. } = Options::default();
        Self {
            struct_size: size_of::<Self>(),
            limit_bytes: limit_bytes.unwrap_or(usize::MAX),
            fill: FillFactor::default().share(),
            threads: 1,
            group: 0,
            kernel: latchless_kernel::LATCHLESS_KERNEL_FASTEST as u32,
            huge_pages: huge_pages.into(),
            prefault: prefault.into(),
            key_kind: latchless_key_kind::LATCHLESS_KEY_U64 as u8,
            value_kind: latchless_value_kind::LATCHLESS_VALUE_WORD as u8,
        }
    }
}

/// A size too large for any structure that this library knows, or may know in the future.
const TOO_LONG: usize = 4096;

/// Fills in options of this many bytes.
///
/// # Safety
/// This many bytes can be written there, unless `options` is NULL.
pub unsafe fn init(options: *mut latchless_options, size: usize) -> Result<(), Failure> {
    if options.is_null() {
        return Err(Failure::Null { argument: "options" });
    }
    let known = size_of::<latchless_options>();
    if size < known || size > TOO_LONG {
        return Err(Failure::StructSize { given: size, smallest: known });
    }
    let defaults = latchless_options { struct_size: size, ..latchless_options::default() };
    // SAFETY: this many bytes can be written, and the structure has no more.
    unsafe {
        ptr::write_bytes(options.cast::<u8>(), 0, size);
        options.write_unaligned(defaults);
    }
    Ok(())
}

/// Options as the index takes them.
pub struct Parsed {
    pub options: Options,
    pub fill: FillFactor,
    pub threads: NonZeroUsize,
    pub keys: KeyKind,
    pub values: ValueKind,
}

/// The kind of values that a caller's options name, valid or not: [`read`] finds what is wrong with them.
///
/// # Safety
/// The contract of [`read`].
pub unsafe fn value_kind(options: *const latchless_options) -> ValueKind {
    // SAFETY: as the caller promises.
    unsafe { read(options) }.map_or(ValueKind::LATCHLESS_VALUE_WORD, |parsed| parsed.values)
}

/// Reads a caller's options.
///
/// # Safety
/// `options` is NULL, or as many bytes can be read there as its first field says.
pub unsafe fn read(options: *const latchless_options) -> Result<Parsed, Failure> {
    if options.is_null() {
        return parse(latchless_options::default());
    }
    let known = size_of::<latchless_options>();
    // SAFETY: as the caller promises.
    let given = unsafe { options.cast::<usize>().read_unaligned() };
    if given < known || given > TOO_LONG {
        return Err(Failure::StructSize { given, smallest: known });
    }
    // SAFETY: there are at least this many bytes.
    let options_known = unsafe { options.read_unaligned() };
    // SAFETY: there are this many bytes.
    let is_zero = |at: usize| unsafe { options.cast::<u8>().add(at).read() } == 0;
    if (known..given).all(is_zero) { parse(options_known) } else { Err(Failure::Newer { given, known }) }
}

fn parse(options: latchless_options) -> Result<Parsed, Failure> {
    let flag = |field, given: u8| match given {
        0 | 1 => Ok(given == 1),
        _ => Err(Failure::Field { field, given: given.into(), wanted: "0 or 1" }),
    };
    let count = |field, given: usize, wanted| {
        NonZeroUsize::new(given).ok_or(Failure::Field { field, given: given as u64, wanted })
    };
    let threads = count("threads", options.threads, "1 or more")?;
    let group = match NonZeroUsize::new(options.group) {
        None => Group::Auto,
        Some(group) if group.get() <= Group::MAX => Group::Of(group),
        Some(group) => {
            let given = group.get() as u64;
            return Err(Failure::Field { field: "group", given, wanted: "from 0 to 128" });
        }
    };
    let kernel = KERNELS.into_iter().find(|known| known.0 as u32 == options.kernel);
    let Some((_, kernel)) = kernel else {
        let given = options.kernel.into();
        return Err(Failure::Field { field: "kernel", given, wanted: "a latchless_kernel" });
    };
    let keys = KeyKind::ALL.into_iter().find(|&known| known as u8 == options.key_kind);
    let Some(keys) = keys else {
        let given = options.key_kind.into();
        return Err(Failure::Field { field: "key_kind", given, wanted: "a latchless_key_kind" });
    };
    let values = match options.value_kind {
        0 => ValueKind::LATCHLESS_VALUE_WORD,
        1 => ValueKind::LATCHLESS_VALUE_BYTES,
        given => {
            let given = given.into();
            return Err(Failure::Field { field: "value_kind", given, wanted: "a latchless_value_kind" });
        }
    };
    let options_of_index = Options {
        limit_bytes: (options.limit_bytes != usize::MAX).then_some(options.limit_bytes),
        huge_pages: flag("huge_pages", options.huge_pages)?,
        prefault: flag("prefault", options.prefault)?,
        kernel,
        group,
        ..Options::default()
    };
    Ok(Parsed { options: options_of_index, fill: FillFactor::new(options.fill)?, threads, keys, values })
}
