/** Typed client for managing webscripts. To call one, fetch its address. */
import { type Ask, type Http, pathOf, serverEvents, typed } from '#services/shared/client'
import type { WebscriptsApi } from './contract.ts'
import type { ScriptLine } from './webscript-schema.ts'

/** Errors are AppErrors, as precisely as the HTTP responses allow. */
export function webscriptsClient(http: Http): WebscriptsApi {
  const picked = (version: string | undefined): Pick<Ask, 'headers'> =>
    version === undefined ? {} : { headers: { 'x-webscript-version': version } }
  const one = (name: string): string => pathOf`/api/v1/webscripts/${name}`
  return {
    list: () => typed(http.json('GET', '/api/v1/webscripts')),
    get: (name, version) => typed(http.json('GET', one(name), picked(version))),
    create: (body) => typed(http.json('POST', '/api/v1/webscripts', { body })),
    replace: (name, body, version) => typed(http.json('PUT', one(name), { body, ...picked(version) })),
    remove: (name, version) => typed(http.json('DELETE', one(name), picked(version))),
    operation: (id) => typed(http.json('GET', pathOf`/api/v1/webscripts/operations/${id}`)),
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
