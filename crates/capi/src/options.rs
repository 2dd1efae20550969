//! Construction options of an index.

#![expect(non_camel_case_types, reason = "C's names")]

use crate::failure::Failure;
use crate::key::{KeyKind, ValueKind, latchless_key_kind, latchless_value_kind};
use core::mem::offset_of;
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

/// A limit of memory that several indexes share, by the field `budget` of their options.
pub struct latchless_budget(());

/// Options of a new index. Call latchless_options_init() first, then change fields; NULL means the defaults.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct latchless_options {
    /// The size of this structure in the program, set by latchless_options_init(); newer ones may be longer.
    pub struct_size: usize,
    /// The most bytes that the index may hold, as its `memory_bytes` are. Default: SIZE_MAX, no limit.
    pub limit_bytes: usize,
    /// The fill of nodes that are loaded, from 0.01 to 1.0. Default: 0.8. Without later inserts choose 1.0.
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
    /// A budget that the index shares with others, whose limit it keeps, too. Default: NULL, none.
    pub budget: *const latchless_budget,
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
            budget: ptr::null(),
        }
    }
}

/// The size of the first version of the structure, which ended before this field.
const SMALLEST: usize = offset_of!(latchless_options, budget);

/// How many bytes of a structure of this size have fields that are known here.
fn known_of(given: usize) -> Result<usize, Failure> {
    let known = size_of::<latchless_options>();
    if !(SMALLEST..=TOO_LONG).contains(&given) {
        return Err(Failure::StructSize { given, smallest: SMALLEST });
    }
    Ok(if given < known { SMALLEST } else { known })
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
    let known = known_of(size)?;
    let defaults = latchless_options { struct_size: size, ..latchless_options::default() };
    // SAFETY: this many bytes can be written, and the structure has no more.
    unsafe {
        ptr::write_bytes(options.cast::<u8>(), 0, size);
        ptr::copy_nonoverlapping((&raw const defaults).cast::<u8>(), options.cast::<u8>(), known);
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
    /// A handle, or NULL.
    pub budget: *const latchless_budget,
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
    // SAFETY: as the caller promises.
    let given = unsafe { options.cast::<usize>().read_unaligned() };
    let known = known_of(given)?;
    let mut options_known = latchless_options::default();
    // SAFETY: there are this many bytes, and the fields among them may have any.
    unsafe { ptr::copy_nonoverlapping(options.cast::<u8>(), (&raw mut options_known).cast::<u8>(), known) };
    // SAFETY: there are this many bytes.
    let is_zero = |at: usize| unsafe { options.cast::<u8>().add(at).read() } == 0;
    let known = size_of::<latchless_options>();
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
    let (fill, budget) = (FillFactor::new(options.fill)?, options.budget);
    Ok(Parsed { options: options_of_index, fill, threads, keys, values, budget })
}
