/** Limits of storage. Beyond them a write or a query is `TOO_LARGE`. */

/** bytes of a document, a log entry or a message, as JSON in UTF-8 */
export const MAX_JSON_BYTES = 1_048_576
/** bytes of an id of a document, and of the name of a resource, metric or stream */
export const MAX_NAME_BYTES = 512
/** bytes of searchable text and of search values. With tenant and id it fits a key of PostgreSQL's B-tree */
export const MAX_FIELD_BYTES = 2_000
/** texts of one `texts` field */
export const MAX_TEXTS = 1_000
export const MAX_FIELDS = 60
/** combined indexes, and fields of one */
export const MAX_TOGETHER = 16
export const MAX_TOGETHER_FIELDS = 4

export const MAX_WRITES = 10_000
/** bodies of one append to a log */
export const MAX_BODIES = 10_000
export const MAX_PARTITION = 65_535

export const MAX_GET_MANY = 1_000
export const DEFAULT_LIMIT = 1_000
export const MAX_LIMIT = 10_000
/** values of one `in` */
export const MAX_IN = 1_000
/** conditions of a query, nested ones included */
export const MAX_CONDITIONS = 200
/** nesting of `any` */
export const MAX_ANY_DEPTH = 2
/** stars of one `like` */
export const MAX_STARS = 32
export const MAX_SORT_FIELDS = 8

/** epoch ms, either way: the range of a Date */
export const MAX_TIME = 8_640_000_000_000_000
/** bytes of a text sample */
export const MAX_SAMPLE_BYTES = 65_536
/** samples and messages of one batch, each */
export const MAX_BATCH = 100_000
export const MAX_RESOURCES = 1_000
export const DEFAULT_SAMPLES = 10_000
export const MAX_SAMPLES = 1_000_000
export const MAX_BUCKETS = 1_000_000
export const DEFAULT_MESSAGES = 100

/** bytes */
export const MAX_PATH_BYTES = 1_024
export const MAX_BLOB_LIST = 1_000
/** bytes of all keys and values of an object's metadata */
export const MAX_METADATA_BYTES = 8_192
/** characters */
export const MAX_CONTENT_TYPE = 255
