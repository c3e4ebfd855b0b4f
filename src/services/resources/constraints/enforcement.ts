/** Checks resources, including inherited values, against the constraints of their type. */
import { at, type Issue, refuse } from '#kernel'
import type { Attributes } from '../attributes.ts'
import type { ResourceEntity } from '../contract.ts'
import { denormalize } from '../denormalize.ts'
import { referredId } from '../resource-record.ts'
import type { TenantResources } from '../tenant-resources.ts'
import type { TypeRecord } from '../type-record.ts'
import type { Attribute, ConstraintRecord } from './constraint-schema.ts'
import { checkAttributes, type Failure } from './check-attributes.ts'

export async function enforce(tenantResources: TenantResources, own: ResourceEntity, type: TypeRecord): Promise<void> {
  const constraints = await constraintsOf(tenantResources, type)
  const attributes = constraints.flatMap((constraint) => constraint.attributes)
  const failures = await failuresOf(tenantResources, attributes, denormalize(own, type.own))
  if (failures.length > 0) throw refuse('the resource', failures.map(issueOf))
}

export async function constraintsOf(
  tenantResources: TenantResources,
  type: TypeRecord,
): Promise<readonly ConstraintRecord[]> {
  const found: ConstraintRecord[] = []
  for (const { constraintId } of type.constraints) {
    const constraint = await tenantResources.constraints.get(constraintId)
    if (constraint !== undefined) found.push(constraint)
  }
  return found
}

export async function failuresOf(
  tenantResources: TenantResources,
  attributes: readonly Attribute[],
  shown: Attributes,
): Promise<readonly Failure[]> {
  const failures = [...checkAttributes(attributes, shown)]
  for (const { name, type } of attributes) {
    if (type.type !== 'resourceRef' || (type.exists !== true && type.resourceTypes === undefined)) continue
    const id = referredId(Object.hasOwn(shown, name) ? shown[name] : undefined)
    if (!id) continue
    const target = (await tenantResources.resources.get(id))?.value
    const path = at('', name)
    const fail = (keyword: string, message: string): void => void failures.push({ path, keyword, message, value: id })
    if (target === undefined) {
      if (type.exists === true) fail('exists', `Property ${name} refers to the resource ${id}, which does not exist.`)
      continue
    }
    const typeId = target.own['resourceTypeId']
    if (type.resourceTypes?.includes(typeof typeId === 'string' ? typeId : '') === false) {
      const wanted = type.resourceTypes.slice(0, 20).join(', ')
      fail('resourceTypes', `Property ${name} must refer to a resource of type ${wanted}.`)
    }
  }
  return failures
}
/** Converts a failure to an issue, with keyword and value for the error body. */
export function issueOf({ path, keyword, message, value }: Failure): Issue {
  const details = { keyword, ...(value !== undefined && { value }) }
  return { type: 'CONSTRAINT', severity: 'ERROR', path, message, details }
}
