/** Typed client of the converter service over fetch, with the same contract. */
import { type Http, pathOf, typed } from '#services/shared/client'
import type { ConverterApi } from './contract.ts'
import type { Converter } from './converter-schema.ts'

export function converterClient(http: Http): ConverterApi {
  return {
    put: async (name, body) => {
      const answer = await http.open('PUT', pathOf`/converter/${name}`, { body })
      return { converter: await typed<Converter>(answer.json()), created: answer.status === 201 }
    },
    get: (name) => typed(http.json('GET', pathOf`/converter/${name}`)),
    list: () => typed(http.json('GET', '/converter/')),
    remove: (name) => typed(http.json('DELETE', pathOf`/converter/${name}`)),
    convert: (name, payload, { forward } = {}) => {
      return typed(http.json('POST', pathOf`/converter/${name}/convert`, { body: payload, query: { forward } }))
    },
    test: (config, payload, topic) => typed(http.json('POST', '/converter/test', { body: { config, payload, topic } })),
    ingest: (name, payload, { idempotencyKey } = {}) => {
      const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
      return typed(http.json('POST', pathOf`/converter/${name}/ingest`, { body: payload, headers }))
    },
    rejected: {
      list: (name, query = {}) => typed(http.json('GET', pathOf`/converter/${name}/rejected`, { query: { ...query } })),
      retry: (name, ids) => typed(http.json('POST', pathOf`/converter/${name}/rejected`, { body: { ids } })),
      remove: async (name, id) => {
        await http.open('DELETE', pathOf`/converter/${name}/rejected/${id}`)
      },
    },
  }
}
