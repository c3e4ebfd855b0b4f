/** Renders resources as `application/hal+json`. */
import type { Page } from '#kernel'
import type { ResourceApi, ResourceEntity } from './contract.ts'
import { textAt } from './attributes.ts'
import { referredId } from './resource-record.ts'

interface Link {
  readonly href: string
  readonly id?: string
}
type Links = Readonly<Record<string, Link>>

export async function halEntity(api: ResourceApi, entities: readonly ResourceEntity[]): Promise<readonly object[]> {
  return Promise.all(
    entities.map(async (entity) => {
      const { total } = await api.children(entity.id, { limit: 0 })
      return { ...entity, _links: linksOf(entity, total > 0) }
    }),
  )
}

export async function halPage(api: ResourceApi, url: string, page: Page<ResourceEntity>): Promise<object> {
  const { values, skip, limit, total } = page
  return {
    count: values.length,
    total,
    limit,
    skip,
    _embedded: { values: await halEntity(api, values) },
    _links: pageLinks(url, page),
  }
}

function linksOf(entity: ResourceEntity, hasChildren: boolean): Links {
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
    ...(type !== undefined && { resourceType: { href: `/api/resourcetypes/${encodeURIComponent(type)}`, id: type } }),
  }
}

const RESERVED_LINKS: ReadonlySet<string> = new Set(['self', 'children', 'parent', 'resourceType'])

function hrefOf(id: string): string {
  return `/api/resources/${encodeURIComponent(id)}`
}

function pageLinks(url: string, { values, skip, limit, total }: Page<unknown>): Links {
  const at = (from: number): Link => {
    const [path = '', query = ''] = url.split('?', 2)
    const parameters = new URLSearchParams(query)
    parameters.set('skip', String(from))
    parameters.set('limit', String(limit))
    return { href: `${path}?${parameters.toString()}` }
  }
  return {
    self: at(skip),
    ...(values.length > 0 && skip + values.length < total && { next: at(skip + limit) }),
    ...(skip > 0 && { prev: at(Math.max(0, skip - limit)) }),
  }
}
