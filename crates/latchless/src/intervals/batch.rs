//! Many questions to an index at once: to its tree, or to a copy.

use super::answers::{Answer, Answers, Overlaps};
use super::interval_index::IntervalIndex;
use super::queries::{Near, Side};
use super::span::{Position, Span};
use super::view::IntervalView;
use core::ops::RangeBounds;
use latchless_core::base::bytes_key::BytesKey;
#[cfg(doc)]
use latchless_core::base::error::Error;
use latchless_core::base::error::Result;

/// A copy of all intervals takes less time than so many of them have questions.
const COPIED_PER_QUESTION: usize = 128;

impl<G: BytesKey, P: Position> IntervalIndex<G, P> {
    /// Copies all intervals for many batches of questions: see [`IntervalView`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]. A view doesn't count for the index's limit.
    pub fn view(&self) -> Result<IntervalView<G, P>> {
        IntervalView::of(self.tree())
    }
}

/// The batches of what answers questions.
macro_rules! batches {
    ($($answering:ident: $about:literal;)*) => {$(
        #[doc = $about]
        impl<G: BytesKey, P: Position> $answering<G, P> {
            /// Finds the ids of the intervals that overlap each of many ranges.
            ///
            /// # Errors
            /// [`Error::OutOfMemory`].
            ///
            /// ```
            /// # let index = latchless::intervals::IntervalIndex::<u32, i64>::new()?;
            /// index.insert_many(&[(1, 5..9, 3), (1, 0..100, 2)]).expect("there is memory");
            /// let asked = [(1, 8..9), (2, 8..9), (1, 9..9), (1, 9..10)];
            /// let found = index.overlaps_many(&asked)?;
            /// assert_eq!((found.of(0), found.of(3)), (&[2, 3][..], &[2][..]));
            /// assert!(found.of(1).is_empty() && found.of(2).is_empty());
            /// assert_eq!(index.view()?.overlaps_many(&asked)?, found);
            /// # Ok::<(), latchless::Error>(())
            /// ```
            pub fn overlaps_many<Q: BytesKey<G>, R: RangeBounds<P>>(
                &self,
                asked: &[(Q, R)],
            ) -> Result<Overlaps> {
                Answers::overlaps_many(self, asked)
            }

            /// Counts the intervals that overlap each of many ranges. See [`IntervalIndex::count`].
            ///
            /// # Errors
            /// [`Error::OutOfMemory`].
            pub fn count_many<Q: BytesKey<G>, R: RangeBounds<P>>(
                &self,
                asked: &[(Q, R)],
            ) -> Result<Vec<usize>> {
                Answers::count_many(self, asked)
            }

            /// Counts the positions of each of many ranges that are in any interval. See
            /// [`IntervalIndex::coverage`].
            ///
            /// # Errors
            /// [`Error::OutOfMemory`].
            pub fn coverage_many<Q: BytesKey<G>, R: RangeBounds<P>>(
                &self,
                asked: &[(Q, R)],
            ) -> Result<Vec<u64>> {
                Answers::coverage_many(self, asked)
            }

            /// Finds the nearest interval to each of many ranges. See [`IntervalIndex::nearest`].
            ///
            /// # Errors
            /// [`Error::OutOfMemory`].
            pub fn nearest_many<Q: BytesKey<G>, R: RangeBounds<P>>(
                &self,
                asked: &[(Q, R)],
            ) -> Result<Vec<Option<Near<P>>>> {
                Answers::near_many(self, asked, Side::Any)
            }

            /// Finds the nearest interval before each of many ranges. See
            /// [`IntervalIndex::nearest_before`].
            ///
            /// # Errors
            /// [`Error::OutOfMemory`].
            pub fn nearest_before_many<Q: BytesKey<G>, R: RangeBounds<P>>(
                &self,
                asked: &[(Q, R)],
            ) -> Result<Vec<Option<Near<P>>>> {
                Answers::near_many(self, asked, Side::Before)
            }

            /// Finds the nearest interval after each of many ranges. See [`IntervalIndex::nearest_after`].
            ///
            /// # Errors
            /// [`Error::OutOfMemory`].
            pub fn nearest_after_many<Q: BytesKey<G>, R: RangeBounds<P>>(
                &self,
                asked: &[(Q, R)],
            ) -> Result<Vec<Option<Near<P>>>> {
                Answers::near_many(self, asked, Side::After)
            }
        }
    )*};
}
batches! {
    IntervalIndex: "Many questions at once, in any order. A large batch copies the intervals and goes through \
                    them once; it fails only if memory is refused for that or for the answers.";
    IntervalView: "Many questions at once, in any order. A batch fails only if memory is refused for it.";
}

impl<G: BytesKey, P: Position> Answers<G, P> for IntervalIndex<G, P> {
    fn each<Q: BytesKey<G>, R: RangeBounds<P>>(
        &self,
        asked: &[(Q, R)],
        answer: &mut Answer<'_, G, Q>,
    ) -> Result<()> {
        if asked.len().saturating_mul(COPIED_PER_QUESTION) > self.len() {
            return IntervalView::<G, P>::of(self.tree())?.each(asked, answer);
        }
        for (at, (group, range)) in asked.iter().enumerate() {
            if let Some(span) = Span::of(range) {
                answer(at, span, &self.source(group))?;
            }
        }
        Ok(())
    }
}
