/** Client of a kind of named documents, with the contract of the service. */
import type { DocumentHead } from '../../documents/document-head.ts'
import type { DocumentsApi } from '../../documents/named-documents.ts'
import { conditionOf, type Http, pathOf, typed } from './http.ts'

/** `path`: of the list, such as `/api/calendars`; `many`: name of the list in its response. */
export function documentsClient<D extends DocumentHead>(http: Http, path: string, many: string): DocumentsApi<D> {
  const one = (name: string): string => `${path}${pathOf`/${name}`}`
  return {
    list: async () => (await typed<Readonly<Record<string, readonly D[]>>>(http.json('GET', path)))[many] ?? [],
    get: (name) => typed(http.json('GET', one(name))),
    put: async (name, body, { ifRevision } = {}) => {
      const answer = await http.open('PUT', one(name), { body, ...conditionOf(ifRevision) })
      return { document: await typed<D>(answer.json()), created: answer.status === 201 }
    },
    remove: async (name, { ifRevision } = {}) => {
      await http.open('DELETE', one(name), conditionOf(ifRevision))
    },
  }
}
