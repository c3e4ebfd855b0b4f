/** Content types that several services answer in. */
/** a page of a list: `{ values, skip, limit, total }` */
export const PAGED_MEDIA_TYPE = 'application/vnd.service.paged+json'
export const HAL_MEDIA_TYPE = 'application/hal+json'
export const NDJSON_MEDIA_TYPE = 'application/x-ndjson'
export const EVENTS_MEDIA_TYPE = 'text/event-stream'
/** alarms over time in place of a list of them */
export const TIMELINE_MEDIA_TYPE = 'application/vnd.service.alarms.timeseries+json'

const VENDOR = String.raw`application/vnd\.(?:[\w-]{1,64}\.){1,8}`
const PAGED = new RegExp(`${VENDOR}paged\\+json`, 'i')
const TIMELINE = new RegExp(`${VENDOR}timeseries\\+json`, 'i')

/** The type of a page that a request accepts, whatever vendor it names; undefined when it wants none. */
export function pagedTypeOf(accept: string | undefined): string | undefined {
  return PAGED.exec(accept ?? '')?.[0]
}

/** The same for alarms over time. */
export function timelineTypeOf(accept: string | undefined): string | undefined {
  return TIMELINE.exec(accept ?? '')?.[0]
}
