/** The constraints of a type: as one, as JSON Schema, or as their authors wrote them. */
import { createHash } from 'node:crypto'
import type { ListQuery, TypeApi } from '../contract.ts'
import { pagingOf } from '../list/read-listing.ts'
import type { TenantResources } from '../tenant-resources.ts'
import type { TypeRecord } from '../type-record.ts'
import type { Attribute, ConstraintRecord } from './constraint-schema.ts'
import { constraintsOf } from './enforcement.ts'
import { schemaOf } from './json-schema.ts'
import { mergeAttributes } from './merge-attributes.ts'
import { RESERVED } from './reserved.ts'

export async function constraintForms(
  tenantResources: TenantResources,
  type: TypeRecord,
  form: Parameters<TypeApi['constraints']>[1],
  query: ListQuery,
): Promise<unknown> {
  const constraints = await constraintsOf(tenantResources, type)
  if (form === 'paged') return pageOf(constraints, query)
  const attributes = merged(constraints)
  if (form === 'schema') return schemaOf(attributes)
  const { id } = type.own
  const names = constraints.map(({ name }) => name).join(', ')
  return {
    id: idOf(tenantResources.collections.tenant, id),
    name: `Constraints for resourceType ${id}`,
    description: names === '' ? 'The reserved attributes' : `The reserved attributes, and ${names}`,
    attributes,
  }
}

/** A UUID (version 8) that is the same for the same type, though nothing is stored under it. */
function idOf(tenant: string, type: string): string {
  const hex = createHash('sha256')
    .update(JSON.stringify(['merged constraints', tenant, type]))
    .digest('hex')
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** They were checked when they were applied; ones that contradict each other leave the reserved attributes. */
function merged(constraints: readonly ConstraintRecord[]): readonly Attribute[] {
  return mergeAttributes([RESERVED, ...constraints.map(({ attributes }) => attributes)]) ?? RESERVED
}

function pageOf(constraints: readonly ConstraintRecord[], query: ListQuery): unknown {
  const { skip, limit } = pagingOf(query)
  return { values: constraints.slice(skip, skip + limit), skip, limit, total: constraints.length }
}
