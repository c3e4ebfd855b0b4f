/** Content types that several services use for responses. */
/** A page of a list: `{ values, skip, limit, total }`. */
export const PAGED_MEDIA_TYPE = 'application/vnd.service.paged+json'
export const HAL_MEDIA_TYPE = 'application/hal+json'
export const NDJSON_MEDIA_TYPE = 'application/x-ndjson'
export const EVENTS_MEDIA_TYPE = 'text/event-stream'
export const TIMELINE_MEDIA_TYPE = 'application/vnd.service.alarms.timeseries+json'

const VENDOR = String.raw`application/vnd\.(?:[\w-]{1,64}\.){1,8}`
const PAGED = new RegExp(`${VENDOR}paged\\+json`, 'i')
const TIMELINE = new RegExp(`${VENDOR}timeseries\\+json`, 'i')

/** Returns the accepted type for a page, of any vendor; undefined when none is accepted. */
export function pagedTypeOf(accept: string | undefined): string | undefined {
  return PAGED.exec(accept ?? '')?.[0]
}

/** Like `pagedTypeOf`, for alarms over time. */
export function timelineTypeOf(accept: string | undefined): string | undefined {
  return TIMELINE.exec(accept ?? '')?.[0]
}
