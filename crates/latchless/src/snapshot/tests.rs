//! Files with a good checksum that are still no snapshot: made by a program, not by an accident.

use super::layout::{About, END, HEAD, LEN_NAME, MAGIC, NO_CHECKSUM, VERSION_NAME, digits_of};
use super::{DataType, Error, Layout, SavedValue, Snapshot, TimeUnit};
use crate::Index;
use crate::bytes::KeyInBytes;
use polars_arrow_format::ipc;
use polars_arrow_format::ipc::planus::{Builder, ReadAsRoot};

/// A snapshot of three entries, taken apart.
struct Parts {
    /// The file up to the end of its messages.
    messages: Vec<u8>,
    footer: ipc::Footer,
}

fn rows(count: u64) -> Vec<u8> {
    let index: Index<u64, i16> = (0..count).map(|key| (10 * key, !(key as i16))).collect();
    let mut file = Vec::new();
    super::write(&index, &mut file).unwrap();
    file
}

impl Parts {
    /// Of keys that are strings.
    fn of_strings() -> Self {
        let index: Index<String, i16> = [("a".into(), -1), ("bc".into(), -2), ("bcd".into(), -3)].into();
        let mut file = Vec::new();
        super::strings::write(&index, &mut file).unwrap();
        Self::of(&file)
    }

    fn of(file: &[u8]) -> Self {
        let end = file.len() - 10;
        let bytes = u32::from_le_bytes(file[end..end + 4].try_into().unwrap()) as usize;
        let footer = ipc::FooterRef::read_as_root(&file[end - bytes..end]).unwrap();
        Self { messages: file[..end - bytes].to_vec(), footer: footer.try_into().unwrap() }
    }

    /// A file of them with a good checksum.
    fn file(self) -> Vec<u8> {
        let mut file = self.messages;
        let start = file.len();
        file.extend(Builder::new().finish(self.footer, None));
        let bytes = (file.len() - start) as u32;
        let digits = start + digits_of(&file[start..]).expect("a checksum");
        file.extend(bytes.to_le_bytes());
        file.extend(MAGIC);
        file[digits..digits + 8].copy_from_slice(NO_CHECKSUM);
        let checksum = format!("{:08x}", crc32fast::hash(&file));
        file[digits..digits + 8].copy_from_slice(checksum.as_bytes());
        file
    }

    fn schema(&mut self) -> &mut ipc::Schema {
        self.footer.schema.as_mut().unwrap()
    }

    fn fields(&mut self) -> &mut Vec<ipc::Field> {
        self.schema().fields.as_mut().unwrap()
    }

    /// Another text under a name in the footer's metadata.
    fn set(&mut self, name: &str, text: &str) {
        let pairs = self.footer.custom_metadata.as_mut().unwrap();
        pairs.iter_mut().find(|pair| pair.key.as_deref() == Some(name)).unwrap().value =
            Some(text.to_owned());
    }

    /// Another message in the place of the first batch's, whose body stays where it is.
    fn set_batch(&mut self, change: impl FnOnce(&mut ipc::RecordBatch)) {
        let block = self.footer.record_batches.as_ref().unwrap()[0];
        let metadata = block.offset as usize + 8..block.offset as usize + block.meta_data_length as usize;
        let message = ipc::MessageRef::read_as_root(&self.messages[metadata.clone()]).unwrap();
        let mut message: ipc::Message = message.try_into().unwrap();
        let Some(ipc::MessageHeader::RecordBatch(batch)) = &mut message.header else { panic!("no batch") };
        change(batch);
        let mut builder = Builder::new();
        let changed = builder.finish(message, None);
        // Longer than the original: at the end of the messages, where it is aligned as well.
        let mut written = vec![0xff; 4];
        written.extend((changed.len() as u32).to_le_bytes());
        written.extend(changed);
        written.resize(written.len().next_multiple_of(64), 0);
        let body = block.offset as usize + block.meta_data_length as usize;
        let body = self.messages[body..body + block.body_length as usize].to_vec();
        let offset = self.messages.len().next_multiple_of(64);
        self.messages.resize(offset, 0);
        let meta_data_length = written.len() as i32;
        self.messages.extend(written);
        self.messages.extend(body);
        self.footer.record_batches.as_mut().unwrap()[0] =
            ipc::Block { offset: offset as i64, meta_data_length, body_length: block.body_length };
    }
}

/// The error for a snapshot of three entries after a change.
fn refusal(change: impl FnOnce(&mut Parts)) -> String {
    let mut parts = Parts::of(&rows(3));
    change(&mut parts);
    let opened = Snapshot::from_bytes(parts.file());
    opened
        .and_then(|snapshot| snapshot.index::<u64, i16>().map(drop))
        .expect_err("it was changed")
        .to_string()
}

#[test]
fn taken_apart_and_put_together_it_is_still_the_same() {
    let mut parts = Parts::of(&rows(3));
    parts.set_batch(|_| ());
    let index = Snapshot::from_bytes(parts.file()).unwrap().index::<u64, i16>().unwrap();
    assert_eq!(index.iter().collect::<Vec<_>>(), [(0, -1), (10, -2), (20, -3)]);
}

#[test]
fn another_version_is_named() {
    let said = refusal(|parts| {
        let pairs = parts.schema().custom_metadata.as_mut().unwrap();
        assert_eq!(pairs[0].key.as_deref(), Some(VERSION_NAME));
        pairs[0].value = Some("0".to_owned());
    });
    assert_eq!(said, "this is a snapshot of version \"0\"; version 1 is known");
}

#[test]
fn a_file_of_another_program_is_told_from_a_damaged_one() {
    let said = refusal(|parts| parts.schema().custom_metadata = None);
    assert_eq!(
        said,
        "this is an Arrow file, but no snapshot of an index: its schema has no latchless.version"
    );
    let mut parts = Parts::of(&rows(3));
    parts.footer.custom_metadata = None;
    let mut file = parts.messages;
    let start = file.len();
    file.extend(Builder::new().finish(parts.footer, None));
    let bytes = (file.len() - start) as u32;
    file.extend(bytes.to_le_bytes());
    file.extend(MAGIC);
    assert!(matches!(Snapshot::from_bytes(file), Err(Error::Foreign { .. })));
}

#[test]
fn columns_have_their_names_and_types() {
    let said = refusal(|parts| parts.fields()[0].name = Some("id".to_owned()));
    assert_eq!(said, "a snapshot has the columns key and value, but this file has id, value");
    let said = refusal(|parts| parts.fields().truncate(0));
    assert_eq!(said, "a snapshot has the columns key and value, but this file has none");
    let said = refusal(|parts| {
        let more = vec![parts.fields()[1].clone(); 1000];
        parts.fields().extend(more);
    });
    assert!(said.len() < 200, "{said}");
    for (column, name) in ["key", "value"].into_iter().enumerate() {
        let said = refusal(|parts| parts.fields()[column].type_ = Some(ipc::Type::LargeUtf8(Box::default())));
        assert_eq!(said, format!("the column {name} is of a type that a snapshot can't have: LargeUtf8"));
    }
    let said = refusal(|parts| parts.fields()[1].type_ = Some(ipc::Type::Utf8(Box::default())));
    assert_eq!(said, "the column value is of a type that a snapshot can't have: Utf8");
    let said = refusal(|parts| {
        let dictionary = ipc::DictionaryEncoding { index_type: None, ..Default::default() };
        parts.fields()[0].dictionary = Some(Box::new(dictionary));
    });
    assert_eq!(said, "the column key is of a type that a snapshot can't have: dictionary");
    let said = refusal(|parts| parts.fields().swap(0, 1));
    assert_eq!(said, "a snapshot has the columns key and value, but this file has value, key");
    let said = refusal(|parts| {
        let swapped = parts.fields()[1].type_.clone();
        parts.fields()[0].type_ = swapped;
    });
    assert!(said.ends_with("a record batch's column is of another length"), "{said}");
    let said = refusal(|parts| parts.schema().endianness = ipc::Endianness::Big);
    assert!(said.ends_with("the columns are big-endian"), "{said}");
}

#[test]
fn batches_are_plain_and_without_nulls() {
    let said = refusal(|parts| parts.set_batch(|batch| batch.nodes.as_mut().unwrap()[1].null_count = 2));
    assert_eq!(said, "the column value has 2 nulls in record batch 0: an index has none");
    let said = refusal(|parts| parts.set_batch(|batch| batch.compression = Some(Box::default())));
    assert_eq!(said, "record batch 0 is compressed; snapshots are not");
    let said = refusal(|parts| parts.set_batch(|batch| batch.length = -1));
    assert_eq!(said, "record batch 0 has -1 rows where a snapshot has 1048576");
    let said = refusal(|parts| parts.set_batch(|batch| batch.buffers.as_mut().unwrap()[3].offset = i64::MAX));
    assert!(said.ends_with("a record batch's column is of another length"), "{said}");
    let said = refusal(|parts| parts.set_batch(|batch| batch.buffers.as_mut().unwrap()[1].length = -1));
    assert!(said.ends_with("a record batch's column is of another length"), "{said}");
    let said = refusal(|parts| parts.set_batch(|batch| batch.buffers.as_mut().unwrap().truncate(3)));
    assert!(said.ends_with("a record batch with too few columns"), "{said}");
}

#[test]
fn batches_lie_one_after_the_other_in_the_file() {
    let outside =
        |offset| refusal(move |parts| parts.footer.record_batches.as_mut().unwrap()[0].offset = offset);
    for offset in [-64, 0, 1 << 40, i64::MAX, i64::MIN] {
        assert!(
            outside(offset).ends_with("the footer names a record batch outside of its place"),
            "{offset}"
        );
    }
    let said = refusal(|parts| parts.footer.record_batches.as_mut().unwrap()[0].body_length = 1 << 40);
    assert!(said.ends_with("a record batch is longer than the file"), "{said}");
    // A footer that names one batch many times would have a load reserve memory for all of them.
    let mut parts = Parts::of(&rows(1 << 20));
    let blocks = parts.footer.record_batches.as_mut().unwrap();
    *blocks = vec![blocks[0]; 1000];
    let said = Snapshot::from_bytes(parts.file()).unwrap_err().to_string();
    assert!(said.ends_with("the footer names a record batch outside of its place"), "{said}");
    let said = refusal(|parts| {
        let blocks = parts.footer.record_batches.as_mut().unwrap();
        blocks.push(blocks[0]);
    });
    assert_eq!(said, "record batch 0 has 3 rows where a snapshot has 1048576");
}

#[test]
fn the_count_is_that_of_the_rows() {
    assert_eq!(refusal(|parts| parts.set(LEN_NAME, "4")), "the file has 3 rows, but its count is \"4\"");
    assert_eq!(refusal(|parts| parts.set(LEN_NAME, "03")), "the file has 3 rows, but its count is \"03\"");
    let said = refusal(|parts| parts.footer.record_batches = None);
    assert_eq!(said, "the file has 0 rows, but its count is \"3\"");
}

#[test]
fn rows_ascend_and_none_comes_twice() {
    let put = |row: usize, key: u64| {
        refusal(move |parts| {
            let block = &parts.footer.record_batches.as_ref().unwrap()[0];
            let at = block.offset as usize + block.meta_data_length as usize + 8 * row;
            parts.messages[at..at + 8].copy_from_slice(&key.to_le_bytes());
        })
    };
    let unsorted = crate::Error::Unsorted { position: 2 }.to_string();
    assert_eq!(put(2, 9), unsorted);
    assert_eq!(put(1, 21), unsorted);
    assert_eq!(put(1, 20), crate::Error::DuplicateKey { position: 2 }.to_string());
}

#[test]
fn one_text_that_is_referred_to_again_and_again_takes_no_memory() {
    // A handmade flatbuffer would share the text; copies are a reader's result.
    let about =
        About { metadata: vec![("a".to_owned(), "b".repeat(1000))], ..About::new([DataType::UInt64; 2]) };
    assert!(about.opening().len() < 2000);
    let layout = Layout::new(DataType::Timestamp(TimeUnit::Nanosecond), DataType::Duration(TimeUnit::Second));
    let layout = layout.with_metadata("zone", "UTC").with_metadata("", "");
    let index: Index<i64, i64> = [(-1, 5)].into_iter().collect();
    let mut file = Vec::new();
    layout.write(&index, &mut file, |key, value| (key as u64, value as u64)).unwrap();
    assert_eq!(&file[..8], HEAD);
    assert!(file.windows(END.len()).any(|bytes| bytes == END));
    let snapshot = Snapshot::from_bytes(file).unwrap();
    assert_eq!(snapshot.key_type(), DataType::Timestamp(TimeUnit::Nanosecond));
    assert_eq!(snapshot.value_type(), DataType::Duration(TimeUnit::Second));
    assert_eq!(snapshot.metadata()[0], ("zone".to_owned(), "UTC".to_owned()));
    assert_eq!(snapshot.row(0), (u64::MAX, 5));
}

/// The error for a snapshot of three texts after a change.
fn refusal_of_strings(change: impl FnOnce(&mut Parts)) -> String {
    let mut parts = Parts::of_strings();
    change(&mut parts);
    let opened = super::strings::Snapshot::from_bytes(parts.file());
    let opened = opened.and_then(|snapshot| snapshot.index::<String, i16>().map(drop));
    opened.expect_err("it was changed").to_string()
}

#[test]
fn strings_follow_each_other_and_have_all_their_bytes() {
    let ends = |ends: [u32; 4]| {
        refusal_of_strings(move |parts| {
            let block = &parts.footer.record_batches.as_ref().unwrap()[0];
            let at = block.offset as usize + block.meta_data_length as usize;
            parts.messages[at..at + 16].copy_from_slice(&ends.map(u32::to_le_bytes).concat());
        })
    };
    for wrong in [[1, 1, 3, 6], [0, 3, 1, 6], [0, 1, 7, 6], [0, u32::MAX, 3, 6]] {
        let said = ends(wrong);
        assert!(said.ends_with("strings don't follow each other"), "{wrong:?}: {said}");
    }
    for wrong in [[0, 1, 3, 5], [0, 1, 3, 7], [0, 1, 3, u32::MAX]] {
        let said = ends(wrong);
        assert!(said.ends_with("a record batch's column is of another length"), "{wrong:?}: {said}");
    }
    assert_eq!(ends([0, 3, 3, 6]), crate::Error::Unsorted { position: 1 }.to_string());
}

#[test]
fn batches_of_strings_have_all_their_buffers() {
    let said = refusal_of_strings(|parts| {
        parts.set_batch(|batch| batch.buffers.as_mut().unwrap()[1].length -= 4);
    });
    assert!(said.ends_with("a record batch's column is of another length"), "{said}");
    let said = refusal_of_strings(|parts| {
        parts.set_batch(|batch| batch.buffers.as_mut().unwrap()[2].offset = i64::MAX);
    });
    assert!(said.ends_with("a record batch's column is of another length"), "{said}");
    for buffers in [2, 4] {
        let said = refusal_of_strings(|parts| {
            parts.set_batch(|batch| batch.buffers.as_mut().unwrap().truncate(buffers));
        });
        assert!(said.ends_with("a record batch with too few columns"), "{said}");
    }
    let said = refusal_of_strings(|parts| parts.set_batch(|batch| batch.length = 0));
    assert_eq!(said, "record batch 0 has 0 rows where a snapshot has 1048576");
}

#[test]
fn a_file_without_the_name_of_its_keys_has_those_of_its_column() {
    let mut parts = Parts::of_strings();
    let metadata = parts.schema().custom_metadata.as_mut().unwrap();
    metadata.retain(|pair| pair.key.as_deref() != Some(super::layout::KEY_NAME));
    assert_eq!(metadata.len(), 1);
    let snapshot = super::strings::Snapshot::from_bytes(parts.file()).unwrap();
    assert_eq!(snapshot.key_name(), "text");
    assert_eq!(snapshot.index::<String, i16>().unwrap().get("bc"), Some(-2));
}

/// The error for a snapshot of three values under keys of 16 bytes after a change.
fn refusal_of_values<V: SavedValue>(values: [V; 3], change: impl FnOnce(&mut Parts)) -> String
where
    u128: KeyInBytes<V>,
{
    let index: Index<u128, V> = (0u128..).zip(values).collect();
    let mut file = Vec::new();
    super::strings::write(&index, &mut file).unwrap();
    let mut parts = Parts::of(&file);
    change(&mut parts);
    super::strings::read::<u128, V>(&parts.file()[..]).expect_err("it was changed").to_string()
}

#[test]
fn values_that_are_strings_follow_each_other_and_have_all_their_bytes() {
    let texts = || ["a", "bc", "def"].map(str::to_owned);
    let ends = |ends: [u32; 4]| {
        refusal_of_values(texts(), move |parts| {
            let block = &parts.footer.record_batches.as_ref().unwrap()[0];
            // After the keys' ends and their bytes, which are a line each.
            let at = block.offset as usize + block.meta_data_length as usize + 128;
            parts.messages[at..at + 16].copy_from_slice(&ends.map(u32::to_le_bytes).concat());
        })
    };
    for wrong in [[1, 1, 3, 6], [0, 3, 1, 6], [0, u32::MAX, 3, 6]] {
        let said = ends(wrong);
        assert!(said.ends_with("strings don't follow each other"), "{wrong:?}: {said}");
    }
    for wrong in [[0, 1, 3, 5], [0, 1, 3, 7], [0, 1, 3, u32::MAX]] {
        let said = ends(wrong);
        assert!(said.ends_with("a record batch's column is of another length"), "{wrong:?}: {said}");
    }
    for buffers in [3, 4, 5] {
        let said = refusal_of_values(texts(), |parts| {
            parts.set_batch(|batch| batch.buffers.as_mut().unwrap().truncate(buffers));
        });
        assert!(said.ends_with("a record batch with too few columns"), "{said}");
    }
}

#[test]
fn values_of_one_length_have_all_their_bytes_and_a_length_that_there_is() {
    let width = |byte_width: i32| {
        refusal_of_values([[7u8; 16]; 3], move |parts| {
            let binary = Box::new(ipc::FixedSizeBinary { byte_width });
            parts.fields()[1].type_ = Some(ipc::Type::FixedSizeBinary(binary));
        })
    };
    for none in [i32::MIN, -1, 0, 65, 256, 272, i32::MAX] {
        let said = width(none);
        assert!(said.starts_with("the column value is of a type that a snapshot can't have"), "{said}");
    }
    for other in [1, 15, 17, 64] {
        let said = width(other);
        assert!(said.ends_with("a record batch's column is of another length"), "{said}");
    }
    let said = refusal_of_values([[7u8; 16]; 3], |parts| {
        parts.fields()[0].type_ = parts.fields()[1].type_.clone();
    });
    assert!(said.starts_with("the column key is of a type that a snapshot can't have"), "{said}");
    // Where keys are numbers, values are as well.
    let said = refusal(|parts| parts.fields()[1].type_ = Some(ipc::Type::Binary(Box::default())));
    assert_eq!(said, "the column value is of a type that a snapshot can't have: Binary");
}

#[test]
fn a_file_without_the_name_of_its_values_has_that_of_its_column() {
    let said = refusal_of_values([5u128; 3], |parts| {
        let metadata = parts.schema().custom_metadata.as_mut().unwrap();
        metadata.retain(|pair| pair.key.as_deref() != Some(super::layout::VALUE_NAME));
        assert_eq!(metadata.len(), 2);
    });
    assert_eq!(
        said,
        "the file has values of type [u8; 16], but the index that was asked for has values of type u128"
    );
}
