/** Content types that several services answer in. */
/** a page of a list: `{ values, skip, limit, total }` */
export const PAGED_MEDIA_TYPE = 'application/vnd.service.paged+json'
export const HAL_MEDIA_TYPE = 'application/hal+json'
export const NDJSON_MEDIA_TYPE = 'application/x-ndjson'
export const EVENTS_MEDIA_TYPE = 'text/event-stream'
/** alarms over time in place of a list of them */
export const TIMELINE_MEDIA_TYPE = 'application/vnd.service.alarms.timeseries+json'
