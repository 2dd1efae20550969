"""One index over many processes and machines: shards of a range of keys each, as actors of Ray.

It is for more entries than the memory of one machine holds, not for speed: see the page "Shards" of the
documentation. Needs `pip install latchless[ray]`.
"""

from latchless.ray._client import ShardedIndex, ShardInfo
from latchless.ray._shard import Moved

__all__ = ["Moved", "ShardInfo", "ShardedIndex"]
