//! The rows that a query reads, batch by batch.

use crate::filter::Keys;
use datafusion::arrow::array::{ArrayRef, RecordBatch, UInt64Array};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use futures::stream;
use latchless::index::Scan;
use latchless::{Direction, Index};
use std::iter;
use std::sync::Arc;

/// The entries under some keys of an index.
#[derive(Debug)]
pub struct Rows {
    pub index: Arc<Index<u64, u64>>,
    pub keys: Keys,
    pub schema: SchemaRef,
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

impl Rows {
    fn batch(schema: &SchemaRef, keys: Vec<u64>, values: Vec<u64>) -> Result<RecordBatch> {
        let columns = [keys, values].map(|column| Arc::new(UInt64Array::from(column)) as ArrayRef);
        Ok(RecordBatch::try_new(Arc::clone(schema), columns.into())?)
    }

    /// A range, each batch of which is read on request. It keeps the index alive, and holds no latch
    /// between batches.
    fn range(&self, low: u64, high: u64, rows_max: usize) -> Batches {
        let schema = Arc::clone(&self.schema);
        let mut scan = Scan::of(Arc::clone(&self.index), low..=high, Direction::Forward);
        Box::new(iter::from_fn(move || {
            let (mut keys, mut values) = (vec![0; rows_max], vec![0; rows_max]);
            let filled = match scan.fill(&mut keys, &mut values) {
                Ok(0) => return None,
                Ok(filled) => filled,
                Err(error) => return Some(Err(refused(error))),
            };
            keys.truncate(filled);
            values.truncate(filled);
            Some(Self::batch(&schema, keys, values))
        }))
    }

    /// Keys one by one, a batch of lookups for each batch of rows.
    fn lookups(&self, wanted: &[u64], rows_max: usize) -> Batches {
        let (index, schema, wanted) = (Arc::clone(&self.index), Arc::clone(&self.schema), wanted.to_vec());
        let mut from = 0;
        Box::new(iter::from_fn(move || {
            let keys = wanted[from..].chunks(rows_max).next()?;
            from += keys.len();
            let (mut values, mut found) = (vec![0; keys.len()], vec![false; keys.len()]);
            if let Err(error) = index.get_columns(keys, &mut values, &mut found) {
                return Some(Err(refused(error)));
            }
            let rows = keys.iter().zip(values).zip(found).filter(|(_, found)| *found);
            let (keys, values) = rows.map(|((key, value), _)| (*key, value)).unzip();
            Some(Self::batch(&schema, keys, values))
        }))
    }
}

impl PartitionStream for Rows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let rows_max = context.session_config().batch_size();
        let batches = match &self.keys {
            Keys::Range { low, high } => self.range(*low, *high, rows_max),
            Keys::Some(keys) => self.lookups(keys, rows_max),
        };
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), stream::iter(batches)))
    }
}

/// An error of the index as one of DataFusion's.
fn refused(error: latchless::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
