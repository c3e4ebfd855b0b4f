/** Limits of storage. Writes and queries beyond a limit fail with `TOO_LARGE`. */

/** bytes of a document, log entry or message, as JSON in UTF-8 */
export const MAX_JSON_BYTES = 1_048_576
/** bytes of a document id, and of the name of a resource, metric or stream */
export const MAX_NAME_BYTES = 512
/** bytes of searchable text and of search values; with tenant and id they fit into a B-tree key of PostgreSQL */
export const MAX_FIELD_BYTES = 2_000
/** texts in one `texts` field */
export const MAX_TEXTS = 1_000
export const MAX_FIELDS = 60
/** combined indexes per collection, and fields per combined index */
export const MAX_TOGETHER = 16
export const MAX_TOGETHER_FIELDS = 4

export const MAX_WRITES = 10_000
/** collection whose writes do not count against the limit of a commit */
export const AUDIT_COLLECTION = 'audit_entries'
/** bodies per append to a log */
export const MAX_BODIES = 10_000

export const MAX_GET_MANY = 1_000
export const DEFAULT_LIMIT = 1_000
export const MAX_LIMIT = 10_000
/** values in one `in` condition */
export const MAX_IN = 1_000
/** conditions in a query, including nested ones */
export const MAX_CONDITIONS = 200
export const MAX_ANY_DEPTH = 2
export const MAX_STARS = 32
export const MAX_SORT_FIELDS = 8

/** epoch ms before or after 1970: the range of a Date */
export const MAX_TIME = 8_640_000_000_000_000
/** bytes of a text as a sample's value */
export const MAX_SAMPLE_BYTES = 65_536
/** maximum number of samples, and of messages, in one batch */
export const MAX_BATCH = 100_000
export const MAX_RESOURCES = 1_000
export const DEFAULT_SAMPLES = 10_000
export const MAX_SAMPLES = 1_000_000
export const MAX_BUCKETS = 1_000_000
export const DEFAULT_MESSAGES = 100

/** bytes of an object's path */
export const MAX_PATH_BYTES = 1_024
export const MAX_BLOB_LIST = 1_000
/** bytes of all keys and values in an object's metadata */
export const MAX_METADATA_BYTES = 8_192
/** characters of a content type */
export const MAX_CONTENT_TYPE = 255
