/** Builds the routes of a kind of named documents: list, read, write and remove. */
import { type TSchema, Type } from 'typebox'
import type { Scope } from '#kernel'
import type { Checked } from '../api/check.ts'
import { type Route, routesOf } from '../api/route.ts'
import { revisionCondition, withTag } from '../http/write-condition.ts'
import type { DocumentHead } from './document-head.ts'
import type { DocumentsApi } from './named-documents.ts'

interface DocumentRoutesOptions<Api, D extends DocumentHead> {
  /** path of the list, such as `/api/calendars` */
  readonly path: string
  readonly one: string
  /** name of the list in its response */
  readonly many: string
  /** scope of writes */
  readonly scope: Scope
  readonly body: Checked
  readonly shown: TSchema
  readonly pick: (api: Api) => DocumentsApi<D>
}

export function documentRoutes<Api, D extends DocumentHead>(
  options: DocumentRoutesOptions<Api, D>,
): readonly Route<Api>[] {
  const { one, many, scope, body, shown, pick } = options
  const route = routesOf<Api>()
  const path = `${options.path}/:name` as '/:name'
  return [
    route({
      method: 'GET',
      path: options.path,
      scope: 'read',
      summary: `The ${many} of the tenant`,
      answers: { 200: Type.Object({ [many]: Type.Array(shown) }, { title: many }) },
      handler: async ({ api }) => ({ [many]: await pick(api).list() }),
    }),
    route({
      method: 'GET',
      path,
      scope: 'read',
      summary: `One ${one}`,
      answers: { 200: shown },
      handler: async ({ api, params, reply }) => withTag(reply, await pick(api).get(params.name)),
    }),
    route({
      method: 'PUT',
      path,
      scope,
      summary: `Create or replace a ${one}`,
      body,
      isConditional: true,
      answers: { 200: shown, 201: shown },
      handler: async ({ api, params, body: document, request, reply }) => {
        const condition = await revisionCondition(request, () => pick(api).get(params.name))
        const { document: written, created } = await pick(api).put(params.name, document, condition)
        return withTag(reply.code(created ? 201 : 200), written)
      },
    }),
    route({
      method: 'DELETE',
      path,
      scope,
      summary: `Remove a ${one}`,
      isConditional: true,
      answers: { 204: Type.Null() },
      handler: async ({ api, params, request }) =>
        pick(api).remove(params.name, await revisionCondition(request, () => pick(api).get(params.name))),
    }),
  ]
}
