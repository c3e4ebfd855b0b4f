/** Reads the filters and paging of listings, and sends them in the accepted format. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Page } from '#kernel'
import {
  Flag,
  HAL_MEDIA_TYPE,
  linkWith,
  pagedTypeOf,
  parameterReader,
  type Parameters,
  Text,
  Texts,
  Whole,
} from '#services/shared'
import { DEFAULT_HITS, GRAPH_FORMATS, MAX_HITS } from './shared-schema.ts'
import { TASK_FILTERS, type TagFilter, type TaskFilter, type TaskQuery } from './tasks/task-schema.ts'

export const FORMAT = {
  format: Type.Optional(Type.Enum(GRAPH_FORMATS, { description: 'form of the graph, default bn' })),
}
export const PAGING = {
  startIndex: Type.Optional(Whole),
  hits: Type.Optional(Type.Integer({ minimum: 0, description: 'default 10, at most 100' })),
}
export const IDS = {
  ids: Type.Optional(Type.Array(Text, { description: 'also comma-separated' })),
  id: Type.Optional(Texts),
}
export const TEMPLATE_LISTING = {
  filter: Type.Optional(Type.String({ description: 'words anywhere in name, id, resource, template, user, tags' })),
  name: TASK_FILTERS.name,
  plugin: TASK_FILTERS.plugin,
  ...IDS,
  tags: Type.Optional(
    Type.Array(Text, {
      description:
        'has one of these keys; tags.<key>=<value>: all keys must match, a repeated key with any of its values',
    }),
  ),
}
export const TASK_LISTING = { ...TEMPLATE_LISTING, ...TASK_FILTERS }
export const TAG_PARAMETERS = /^tags\../

const SHOWN = { ...PAGING, ...FORMAT, includeHealth: Type.Optional(Flag), includegraph: Type.Optional(Flag) }
type Shown = Parameters<typeof SHOWN>
type Listing = Omit<Shown, keyof typeof PAGING> & TaskQuery

export const taskListing = listingReader(TASK_LISTING)
export const templateListing = listingReader(TEMPLATE_LISTING)

function listingReader(listing: Partial<typeof TASK_LISTING>): (query: unknown) => Listing {
  // parameters that this listing does not have stay absent
  const readParameters = parameterReader({ ...(listing as typeof TASK_LISTING), ...SHOWN })
  return (query) => {
    const {
      ids,
      id,
      tags = [],
      startIndex,
      hits,
      format,
      includeHealth,
      includegraph,
      ...filters
    } = readParameters(query)
    const filled = Object.entries(filters).filter(([, value]) => value !== '')
    const tagKeys = tags.flatMap((list) => list.split(',')).filter((key) => key !== '')
    const tagFilters = tagFiltersOf(query)
    const where: TaskFilter = {
      ...Object.fromEntries(filled),
      ...(filters.template === 'null' && { template: null }),
      ...((ids ?? id) !== undefined && { ids: idsOf({ ids, id }) }),
      ...(tagFilters.length > 0 && { tags: tagFilters }),
      ...(tagKeys.length > 0 && { tagKeys }),
    }
    const shown = Object.entries({ format, includeHealth, includegraph }).filter(([, value]) => value !== undefined)
    return { where, ...pageOf({ startIndex, hits }), ...(Object.fromEntries(shown) as Shown) }
  }
}

function tagFiltersOf(query: unknown): readonly TagFilter[] {
  const parameters: readonly (readonly [string, unknown])[] = Object.entries(query ?? {})
  return parameters
    .filter(([name]) => TAG_PARAMETERS.test(name))
    .flatMap(([name, value]) =>
      [value].flat().map((one) => ({ key: name.slice('tags.'.length), ...(one !== '' && { value: String(one) }) })),
    )
}

export function idsOf({
  ids = [],
  id = [],
}: {
  ids?: readonly string[] | undefined
  id?: readonly string[] | undefined
}): readonly string[] {
  return [...new Set([...ids.flatMap((list) => list.split(',')), ...id].filter((one) => one !== ''))]
}

export function pageOf({
  startIndex = 0,
  hits = DEFAULT_HITS,
}: {
  startIndex?: number | undefined
  hits?: number | undefined
}): Omit<TaskQuery, 'where'> {
  return { startIndex, hits: Math.min(hits, MAX_HITS) }
}

export function sendList<T>(request: FastifyRequest, reply: FastifyReply, page: Page<T>): FastifyReply {
  void reply.header('x-count', page.total).header('vary', 'accept')
  const accept = request.headers.accept ?? ''
  const paged = pagedTypeOf(accept)
  if (paged !== undefined) return sendAs(reply, paged, page)
  if (!accept.includes(HAL_MEDIA_TYPE)) return reply.send(page.values)
  const { values, skip, limit, total } = page
  const _links = linksOf(request, page)
  return sendAs(reply, HAL_MEDIA_TYPE, { _embedded: { values }, count: values.length, total, limit, skip, _links })
}

function sendAs(reply: FastifyReply, type: string, body: unknown): FastifyReply {
  return reply.type(`${type}; charset=utf-8`).send(JSON.stringify(body))
}

function linksOf(
  request: FastifyRequest,
  { skip, limit, total }: Page<unknown>,
): Readonly<Record<string, { readonly href: string }>> {
  const at = (startIndex: number) => ({ href: linkWith(request, { startIndex, hits: limit }) })
  return {
    self: { href: linkWith(request) },
    ...(limit > 0 && skip + limit < total && { next: at(skip + limit) }),
    ...(skip > 0 && { prev: at(Math.max(0, skip - limit)) }),
  }
}
