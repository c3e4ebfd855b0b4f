/** Renders resources as `application/hal+json`. */
import type { FastifyRequest } from 'fastify'
import type { Page } from '#kernel'
import { linkTo, linkWith } from '#services/shared'
import type { ResourceApi, ResourceEntity } from './contract.ts'
import { textAt } from './attributes.ts'
import { referredId } from './resource-record.ts'

interface Link {
  readonly href: string
  readonly id?: string
}
type Links = Readonly<Record<string, Link>>

export async function halEntity(
  api: ResourceApi,
  request: FastifyRequest,
  entities: readonly ResourceEntity[],
): Promise<readonly object[]> {
  return Promise.all(
    entities.map(async (entity) => {
      const { total } = await api.children(entity.id, { limit: 0 })
      return { ...entity, _links: linksOf(request, entity, total > 0) }
    }),
  )
}

export async function halPage(api: ResourceApi, request: FastifyRequest, page: Page<ResourceEntity>): Promise<object> {
  const { values, skip, limit, total } = page
  return {
    count: values.length,
    total,
    limit,
    skip,
    _embedded: { values: await halEntity(api, request, values) },
    _links: pageLinks(request, page),
  }
}

function linksOf(request: FastifyRequest, entity: ResourceEntity, hasChildren: boolean): Links {
  const hrefOf = (id: string) => linkTo(request, `/api/resources/${encodeURIComponent(id)}`)
  const self = hrefOf(entity.id)
  const parent = textAt(entity, 'parentId')
  const type = textAt(entity, 'resourceTypeId')
  const references = Object.entries(entity).flatMap(([name, value]): [string, Link][] => {
    const id = RESERVED_LINKS.has(name) ? undefined : referredId(value)
    return id === undefined ? [] : [[name, { href: hrefOf(id), id }]]
  })
  return {
    ...Object.fromEntries(references),
    self: { href: self },
    ...(hasChildren && { children: { href: `${self}/children` } }),
    ...(parent !== undefined && { parent: { href: hrefOf(parent), id: parent } }),
    ...(type !== undefined && {
      resourceType: { href: linkTo(request, `/api/resourcetypes/${encodeURIComponent(type)}`), id: type },
    }),
  }
}

const RESERVED_LINKS: ReadonlySet<string> = new Set(['self', 'children', 'parent', 'resourceType'])

function pageLinks(request: FastifyRequest, { values, skip, limit, total }: Page<unknown>): Links {
  const at = (from: number): Link => ({ href: linkWith(request, { skip: from, limit }) })
  return {
    self: at(skip),
    ...(values.length > 0 && skip + values.length < total && { next: at(skip + limit) }),
    ...(skip > 0 && { prev: at(Math.max(0, skip - limit)) }),
  }
}
