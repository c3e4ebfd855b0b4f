/** Typed client of connectors over fetch, with the same contract. */
import { type Http, pathOf, typed } from '#services/shared/client'
import type { ConnectorApi, ConnectorsApi, Sink, Source } from './contract.ts'

export function connectorsClient(http: Http): ConnectorsApi {
  return {
    sources: {
      ...clientOf<Source>(http, 'sources'),
      retry: (name, ids) => typed(http.json('POST', pathOf`/api/sources/${name}/rejected`, { body: { ids } })),
      forget: async (name, id) => {
        await http.open('DELETE', pathOf`/api/sources/${name}/rejected/${id}`)
      },
    },
    sinks: clientOf<Sink>(http, 'sinks'),
  }
}

function clientOf<Shown>(http: Http, kinds: 'sources' | 'sinks'): ConnectorApi<Shown> {
  const path = (name: string, action = ''): string => `/api/${kinds}${pathOf`/${name}`}${action}`
  return {
    put: async (name, body) => {
      const answer = await http.open('PUT', path(name), { body })
      return { connector: await typed<Shown>(answer.json()), created: answer.status === 201 }
    },
    get: (name) => typed(http.json('GET', path(name))),
    list: async () => {
      const answer = await typed<Readonly<Record<string, readonly Shown[]>>>(http.json('GET', `/api/${kinds}`))
      return answer[kinds] ?? []
    },
    remove: async (name) => {
      await http.open('DELETE', path(name))
    },
    pause: (name) => typed(http.json('POST', path(name, '/pause'))),
    resume: (name) => typed(http.json('POST', path(name, '/resume'))),
    test: (name) => typed(http.json('POST', path(name, '/test'))),
    rejected: (name, query = {}) => typed(http.json('GET', path(name, '/rejected'), { query: { ...query } })),
  }
}
