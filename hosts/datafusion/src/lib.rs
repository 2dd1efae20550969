//! An index of latchless as a table of DataFusion: SQL over entries that other threads change meanwhile.
//!
//! [`IndexTable`] has two columns, `key` and `value`. Conditions on `key` (`=`, `<`, `BETWEEN`, `IN`, …) go
//! to the index as a range or a batch of lookups ([`filter`] extracts them), so that a query reads only the
//! entries it needs. DataFusion does the rest. Rows are in the order of their keys, and DataFusion knows
//! that.

mod filter;
mod stream;

pub use filter::Keys;

use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, Result, Statistics};
use datafusion::datasource::TableType;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use latchless::Index;
use std::sync::Arc;
use stream::Rows;

/// The column of the keys.
pub const KEY: &str = "key";
/// The column of the values.
pub const VALUE: &str = "value";

/// An index as a table. Other threads may change the index at any time: a query sees of each leaf one
/// moment.
#[derive(Debug)]
pub struct IndexTable {
    index: Arc<Index<u64, u64>>,
    schema: SchemaRef,
}

impl IndexTable {
    /// A table of this index.
    pub fn new(index: Arc<Index<u64, u64>>) -> Self {
        let column = |name| Field::new(name, DataType::UInt64, false);
        Self { index, schema: Arc::new(Schema::new(vec![column(KEY), column(VALUE)])) }
    }

    /// The order of the rows, if their keys are among the requested columns.
    fn ordering(&self, projection: Option<&Vec<usize>>) -> Option<LexOrdering> {
        let columns = projection.map_or(vec![0, 1], Clone::clone);
        let at = columns.iter().position(|&column| column == 0)?;
        LexOrdering::new([PhysicalSortExpr::new_default(Arc::new(Column::new(KEY, at)))])
    }
}

#[async_trait]
impl TableProvider for IndexTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    /// A filter that selects keys is served by the index alone; DataFusion handles the others.
    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let served = |filter: &&Expr| match Keys::of(filter) {
            Some(_) => TableProviderFilterPushDown::Exact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(served).collect())
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let keys = filters.iter().filter_map(Keys::of).fold(Keys::ALL, Keys::and);
        let rows = Rows { index: Arc::clone(&self.index), keys, schema: self.schema() };
        let partitions = vec![Arc::new(rows) as Arc<dyn PartitionStream>];
        let ordering = self.ordering(projection);
        let plan =
            StreamingTableExec::try_new(self.schema(), partitions, projection, ordering, false, limit)?;
        Ok(Arc::new(plan))
    }

    /// So that joins are planned well: how many rows there are about.
    fn statistics(&self) -> Option<Statistics> {
        let column_statistics = vec![ColumnStatistics::new_unknown(); 2];
        let num_rows = Precision::Inexact(self.index.len());
        Some(Statistics { num_rows, total_byte_size: Precision::Absent, column_statistics })
    }
}
