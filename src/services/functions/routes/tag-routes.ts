/** Routes of tags: those of a function, and those of the tenant. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { AppError, isPlainObject } from '#kernel'
import type { QueryReader, RequestContext } from '#services/shared'
import type { FunctionsApi, Tag, TagInput, TagScope } from '../contract.ts'
import { noTag } from '../changes/change-metadata.ts'
import { TagsSchema } from '../registry/manifest.ts'
import { addList, described, handle, OF_NAME, OF_VERSION, pathsOf, texts, type TypeRouting } from './route-parts.ts'
import { TagListSchema, TagOneSchema, TAGS_QUERY } from './schemas.ts'
import { PREFIX } from './wire.ts'

type Context = RequestContext<FunctionsApi, QueryReader>

const SCOPE = {
  scope: Type.Optional(
    Type.Enum(['any', 'all'], { description: 'all (default): tags that every version has; any: that one has' }),
  ),
}
const Body = Type.Object({ tags: TagsSchema }, { title: 'TagsOfFunction' })

/** Tags of one version, and of all of a name together. */
export function functionTagRoutes(app: FastifyInstance, { service, type }: TypeRouting): void {
  const paths = pathsOf(type)
  for (const [path, params, what] of [
    [paths.one, OF_NAME, `all versions of one of the ${type}`],
    [paths.version, OF_VERSION, `one version of one of the ${type}`],
  ] as const) {
    const versionOf = ({ param }: Context): string | undefined => (params.length > 1 ? param('version') : undefined)
    const query = params.length > 1 ? {} : SCOPE
    app.get(
      `${path}/tags`,
      described({ summary: `Tags of ${what}`, params, query, answers: { 200: TagListSchema } }),
      handle(service, async (context) => {
        const scope = scopeIn(context)
        return { tags: await context.api.tags(context.param('name'), versionOf(context), scope) }
      }),
    )
    for (const [method, kind, doing] of [
      ['PUT', 'set', 'Replace'],
      ['PATCH', 'add', 'Add'],
    ] as const) {
      app.route({
        method,
        url: `${path}/tags`,
        ...described({
          summary: `${doing} tags of ${what}`,
          params,
          query: method === 'PUT' ? query : {},
          body: Body,
          answers: { 200: TagListSchema },
        }),
        handler: handle(service, async (context) => {
          const { api, param, body } = context
          const change = { kind, tags: tagsOf(body) }
          return { tags: await api.changeTags(param('name'), versionOf(context), change, scopeIn(context)) }
        }),
      })
    }
    app.delete(
      `${path}/tags`,
      described({ summary: `Take all tags of ${what} away`, params, query, answers: { 200: TagListSchema } }),
      handle(service, async (context) => {
        const { api, param } = context
        const scope = scopeIn(context)
        const before = await api.tags(param('name'), versionOf(context), scope)
        await api.changeTags(param('name'), versionOf(context), { kind: 'remove' }, scope)
        return { tags: before }
      }),
    )
    const one = `${path}/tags/:tag`
    const ofTag = [...params, 'tag']
    app.get(
      one,
      described({ summary: `A tag of ${what}`, params: ofTag, query, answers: { 200: TagOneSchema } }),
      handle(service, async (context) => {
        const tags = await context.api.tags(context.param('name'), versionOf(context), scopeIn(context))
        return { tag: found(tags, context.param('tag')) }
      }),
    )
    app.put(
      one,
      described({ summary: `Add a tag to ${what}`, params: ofTag, answers: { 200: TagOneSchema } }),
      handle(service, async (context) => {
        const { api, param } = context
        const name = param('tag')
        const tags = await api.changeTags(param('name'), versionOf(context), { kind: 'add', tags: [name] }, 'any')
        return { tag: found(tags, name) }
      }),
    )
    app.delete(
      one,
      described({ summary: `Take a tag of ${what} away`, params: ofTag, answers: { 200: TagOneSchema } }),
      handle(service, async (context) => {
        const { api, param } = context
        const name = param('tag')
        const tag = found(await api.tags(param('name'), versionOf(context), 'any'), name)
        await api.changeTags(param('name'), versionOf(context), { kind: 'remove', name })
        return { tag }
      }),
    )
  }
}

function scopeIn({ query }: Context): TagScope | undefined {
  const scope = query.oneOf('scope', ['any', 'all'])
  query.done()
  return scope
}

/** The service checks them, and says where one is wrong. */
function tagsOf(body: unknown): readonly TagInput[] {
  if (isPlainObject(body) && Array.isArray(body['tags'])) return body['tags'] as readonly TagInput[]
  throw new AppError('VALIDATION', 'send { "tags": [...] } with names, or with objects of a name and a color')
}

function found(tags: readonly Tag[], name: string): Tag {
  const tag = tags.find((one) => one.name === name)
  if (tag === undefined) throw noTag(name)
  return tag
}

/** Tags of the tenant. */
export function tagRoutes(app: FastifyInstance, service: TypeRouting['service']): void {
  const all = `${PREFIX}/tags`
  addList(
    app,
    all,
    described({ summary: 'Tags of functions', query: TAGS_QUERY, answers: { 200: TagListSchema } }),
    handle(service, async ({ api, query }) => {
      const asked = texts(query, 'name', 'color')
      query.done()
      return { tags: await api.allTags.list(asked) }
    }),
  )
  const drop = described({ summary: 'Take away tags that no function has', answers: { 200: TagListSchema } })
  const dropping = handle(service, async ({ api }) => ({ tags: await api.allTags.dropUnused() }))
  app.delete(all, drop, dropping)
  app.delete(`${all}/`, { ...drop, schema: { ...drop.schema, hide: true } }, dropping)
  app.get(
    `${all}/:tag`,
    described({ summary: 'One tag', params: ['tag'], answers: { 200: TagOneSchema } }),
    handle(service, async ({ api, param }) => ({ tag: await api.allTags.get(param('tag')) })),
  )
}
