/** Everything that the clients of services share. Runs in browsers too. */
export {
  type RequestDetails as Ask,
  conditionOf,
  Http,
  type Method,
  pathOf,
  type QueryValue,
  typed,
} from './http/client/http.ts'
export { documentsClient } from './http/client/documents-client.ts'
export { jsonLines, serverEvents, textEvents } from './http/client/streams.ts'
export { tarOf } from './http/client/tar.ts'
export { listOfHeader } from './http/header-list.ts'
export { EVENTS_MEDIA_TYPE, PAGED_MEDIA_TYPE, TIMELINE_MEDIA_TYPE } from './http/media-types.ts'
