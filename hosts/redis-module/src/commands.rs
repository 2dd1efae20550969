//! The commands. Ranges and counts of many entries are read by a few additional threads, while the server's
//! thread goes on serving other requests, writes to the same map among them.

use crate::map::{Entry, Map, Range, Wanted};
use crate::pool::Place;
use crate::stored::{MAP, Stored};
use redis_module::key::RedisKeyWritable;
use redis_module::{
    Context, ContextFlags, NextArg, RedisError, RedisResult, RedisString, RedisValue, ThreadSafeContext,
};
use std::ops::Bound;

/// Up to this many entries a reply is made at once.
const FEW: usize = 1000;

type Arguments = std::iter::Skip<std::vec::IntoIter<RedisString>>;

/// The arguments after the command's name, if there are enough of them.
fn arguments(all: Vec<RedisString>, least: usize) -> Result<Arguments, RedisError> {
    if all.len() > least { Ok(all.into_iter().skip(1)) } else { Err(RedisError::WrongArity) }
}

/// The map under a key, if the key is there.
fn found(context: &Context, key: &RedisString) -> Result<Option<Stored>, RedisError> {
    context.open_key(key).get_value::<Stored>(&MAP).map(Option::<&_>::cloned).map_err(other_type)
}

/// The value of a key that is to be changed.
fn changed(key: &RedisKeyWritable) -> Result<Option<&Stored>, RedisError> {
    key.get_value::<Stored>(&MAP).map(|map| map.map(|map| &*map)).map_err(other_type)
}

/// The library's only error there, by the name that clients know.
fn other_type(_: RedisError) -> RedisError {
    RedisError::WrongType
}

fn integer(count: usize) -> RedisResult {
    Ok(RedisValue::Integer(count as i64))
}

/// An error of the index in Redis's form.
fn refused(error: latchless::Error) -> RedisError {
    RedisError::String(format!("ERR {error}"))
}

/// Entries as one list: field, value, field, value, …
fn list(entries: Vec<Entry>) -> RedisValue {
    let flat = entries.into_iter().flat_map(|(field, value)| [field, value]);
    RedisValue::Array(flat.map(RedisValue::StringBuffer).collect())
}

/// LL.SET key field value [field value …]: how many fields are new.
pub fn set(context: &Context, all: Vec<RedisString>) -> RedisResult {
    if all.len() < 4 || all.len() % 2 == 1 {
        return Err(RedisError::WrongArity);
    }
    let longest = all[2..].iter().step_by(2).map(RedisString::len).max().unwrap_or(0);
    if longest > usize::from(u16::MAX) {
        return Err(RedisError::Str("ERR a field has at most 65535 bytes"));
    }
    let key = context.open_key_writable(&all[1]);
    if changed(&key)?.is_none() {
        key.set_value(&MAP, Stored::new(Map::new().map_err(refused)?))?;
    }
    let map = changed(&key)?.ok_or(RedisError::Str("ERR the key has gone"))?;
    let mut new = 0;
    for (at, pair) in all[2..].chunks(2).enumerate() {
        match map.set(pair[0].as_slice(), pair[1].as_slice()) {
            Ok(is_new) => new += usize::from(is_new),
            Err(error) => {
                // Memory is refused. The pairs before this one stay, here and on replicas.
                let done: Vec<&RedisString> = all[1..2 + 2 * at].iter().collect();
                if at > 0 {
                    context.replicate("ll.set", &done[..]);
                } else if map.len() == 0 {
                    key.delete()?;
                }
                return Err(refused(error));
            }
        }
    }
    context.replicate_verbatim();
    integer(new)
}

/// LL.GET key field: its value.
pub fn get(context: &Context, all: Vec<RedisString>) -> RedisResult {
    let [_, key, field] = &all[..] else { return Err(RedisError::WrongArity) };
    let value = found(context, key)?.and_then(|map| map.get(field.as_slice()));
    Ok(value.map_or(RedisValue::Null, RedisValue::StringBuffer))
}

/// Changes a map; a key without fields goes.
fn remove(context: &Context, key: &RedisString, remove: impl FnOnce(&Map) -> usize) -> RedisResult {
    let key = context.open_key_writable(key);
    let Some(map) = changed(&key)? else { return integer(0) };
    let removed = remove(map);
    if map.len() == 0 {
        key.delete()?;
    }
    if removed > 0 {
        context.replicate_verbatim();
    }
    integer(removed)
}

/// LL.DEL key field [field …]: how many were there.
pub fn del(context: &Context, all: Vec<RedisString>) -> RedisResult {
    let mut arguments = arguments(all, 2)?;
    let key = arguments.next_arg()?;
    remove(context, &key, |map| arguments.filter(|field| map.remove(field.as_slice())).count())
}

/// LL.DELRANGE key begin end: how many were there.
pub fn delrange(context: &Context, all: Vec<RedisString>) -> RedisResult {
    let [_, key, begin, end] = &all[..] else { return Err(RedisError::WrongArity) };
    let range = range_of(begin, end)?;
    remove(context, key, |map| map.remove_range(&range))
}

/// LL.LEN key: how many fields it has.
pub fn len(context: &Context, all: Vec<RedisString>) -> RedisResult {
    let [_, key] = &all[..] else { return Err(RedisError::WrongArity) };
    integer(found(context, key)?.map_or(0, |map| map.len()))
}

/// One entry near a field, or nothing.
fn near(
    context: &Context,
    all: &[RedisString],
    near: impl FnOnce(&Map, &[u8]) -> Option<Entry>,
) -> RedisResult {
    let [_, key, field] = all else { return Err(RedisError::WrongArity) };
    let entry = found(context, key)?.and_then(|map| near(&map, field.as_slice()));
    Ok(entry.map_or(RedisValue::Null, |entry| list(vec![entry])))
}

/// LL.FLOOR key field: the entry of the field, or else the last one before it.
pub fn floor(context: &Context, all: Vec<RedisString>) -> RedisResult {
    near(context, &all, Map::floor)
}

/// LL.CEILING key field: the entry of the field, or else the first one after it.
pub fn ceiling(context: &Context, all: Vec<RedisString>) -> RedisResult {
    near(context, &all, Map::ceiling)
}

/// One end of a range, as ZRANGEBYLEX has them: `[field` is part of it, `(field` isn't, and `open` is no
/// end.
fn end_of(end: &RedisString, open: &[u8]) -> Result<Bound<Vec<u8>>, RedisError> {
    match end.as_slice() {
        bytes if bytes == open => Ok(Bound::Unbounded),
        [b'[', field @ ..] => Ok(Bound::Included(field.to_vec())),
        [b'(', field @ ..] => Ok(Bound::Excluded(field.to_vec())),
        _ => Err(RedisError::Str(
            "ERR a range begins with -, [field or (field and ends with +, [field or (field",
        )),
    }
}

fn range_of(begin: &RedisString, end: &RedisString) -> Result<Range, RedisError> {
    Ok((end_of(begin, b"-")?, end_of(end, b"+")?))
}

/// The options after a range: REV, and LIMIT with a number.
fn options(mut arguments: Arguments) -> Result<(bool, usize), RedisError> {
    let (mut backward, mut limit) = (false, usize::MAX);
    while let Some(option) = arguments.next() {
        match option.as_slice().to_ascii_uppercase().as_slice() {
            b"REV" => backward = true,
            b"LIMIT" => {
                let number = arguments.next_i64().map_err(|_| RedisError::Str("ERR a limit is a number"))?;
                limit = usize::try_from(number).map_err(|_| RedisError::Str("ERR a limit is not below 0"))?;
            }
            _ => return Err(RedisError::Str("ERR syntax error: REV or LIMIT number")),
        }
    }
    Ok((backward, limit))
}

/// LL.RANGE key begin end [REV] [LIMIT n]: the entries of a range, or with REV from its end down.
pub fn range(context: &Context, all: Vec<RedisString>) -> RedisResult {
    let mut arguments = arguments(all, 3)?;
    let key = arguments.next_arg()?;
    let range = range_of(&arguments.next_arg()?, &arguments.next_arg()?)?;
    entries(context, &key, Wanted::Range(range), arguments)
}

/// LL.PREFIX key prefix [REV] [LIMIT n]: the entries whose fields begin with a prefix.
pub fn prefix(context: &Context, all: Vec<RedisString>) -> RedisResult {
    let mut arguments = arguments(all, 2)?;
    let key = arguments.next_arg()?;
    let prefix = arguments.next_arg()?.as_slice().to_vec();
    entries(context, &key, Wanted::Prefix(prefix), arguments)
}

fn entries(context: &Context, key: &RedisString, wanted: Wanted, rest: Arguments) -> RedisResult {
    let (backward, limit) = options(rest)?;
    let Some(map) = found(context, key)? else { return Ok(RedisValue::Array(Vec::new())) };
    // A range in a large map has few entries most often: that is found out by reading them.
    let first = map.entries(&wanted, backward, limit.min(FEW + 1));
    if first.len() <= FEW {
        return Ok(list(first));
    }
    drop(first);
    answer_later(context, move || Ok(list(map.entries(&wanted, backward, limit))))
}

/// LL.COUNT key begin end: how many fields a range has.
pub fn count(context: &Context, all: Vec<RedisString>) -> RedisResult {
    let [_, key, begin, end] = &all[..] else { return Err(RedisError::WrongArity) };
    let range = range_of(begin, end)?;
    let Some(map) = found(context, key)? else { return integer(0) };
    if map.len() <= FEW {
        return integer(map.count(&range));
    }
    answer_later(context, move || integer(map.count(&range)))
}

/// Answers from another thread, unless the client is one that can't wait: a transaction or a script.
fn answer_later(context: &Context, answer: impl FnOnce() -> RedisResult + Send + 'static) -> RedisResult {
    let cant_wait = ContextFlags::MULTI | ContextFlags::LUA | ContextFlags::DENY_BLOCKING;
    if context.get_flags().intersects(cant_wait) {
        return answer();
    }
    let Some(place) = Place::take() else {
        return Err(RedisError::Str(
            "ERR too many long ranges and counts are being answered: try again later",
        ));
    };
    let client = context.block_client();
    place.hand_over(move || {
        // A client that has gone needs no reply.
        let _status = ThreadSafeContext::with_blocked_client(client).reply(answer());
    });
    Ok(RedisValue::NoReply)
}
