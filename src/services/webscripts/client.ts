/** The webscripts service over fetch: logs and figures as its contract has them. A call is a fetch of its address. */
import { pathOf, typed, type Http } from '../../web/client/http.ts'
import { serverEvents } from '../../web/client/streams.ts'
import type { ScriptLine, WebscriptsApi } from './contract.ts'

/** What the caller behind the credentials can do. Errors are the same AppErrors, as far as the wire tells them apart. */
export function webscriptsClient(http: Http): WebscriptsApi {
  return {
    log: (name, query = {}) =>
      typed(http.json('GET', pathOf`/api/v1/webscripts/logs/${name}`, { query: { ...query } })),
    tail: async function* (name, { signal, ...query }) {
      const path = pathOf`/api/v1/webscripts/logs/${name}/events`
      const answer = await http.open('GET', path, { query: { ...query }, signal })
      for await (const { data } of serverEvents(answer)) yield data as ScriptLine
    },
    metrics: (name) => typed(http.json('GET', pathOf`/api/v1/webscripts/metrics/${name}`)),
  }
}
