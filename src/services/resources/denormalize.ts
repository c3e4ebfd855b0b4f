/** Merges the attributes of a resource over those of its type. Arrays and objects are replaced as a whole. */
import { sameJson } from '#kernel'
import type { Attributes } from './attributes.ts'
import type { ResourceEntity } from './contract.ts'
import type { AttributeOrigin } from './resource-schema.ts'

/** These attributes are not inherited. Neither are names that start with `$`, which the type uses for bookkeeping. */
const OWN_ONLY: ReadonlySet<string> = new Set(['id', 'parentId'])

export function isInherited(attribute: string): boolean {
  return !OWN_ONLY.has(attribute) && !attribute.startsWith('$')
}

export function denormalize(own: ResourceEntity, type: Attributes | undefined): ResourceEntity {
  if (type === undefined) return own
  const inherited = Object.entries(type).filter(([name]) => isInherited(name) && !Object.hasOwn(own, name))
  return inherited.length === 0 ? own : { ...own, ...Object.fromEntries(inherited) }
}

export function originsOf(
  own: ResourceEntity,
  type: { readonly id: string; readonly attributes: Attributes } | undefined,
): readonly AttributeOrigin[] {
  const shown = denormalize(own, type?.attributes)
  return Object.keys(shown)
    .sort()
    .map((attribute): AttributeOrigin => {
      const value = shown[attribute] ?? null
      if (type !== undefined && !Object.hasOwn(own, attribute)) return { attribute, value, from: 'type', id: type.id }
      const hides = type !== undefined && isInherited(attribute) && Object.hasOwn(type.attributes, attribute)
      const hidden = hides ? type.attributes[attribute] : undefined
      return {
        attribute,
        value,
        from: 'resource',
        id: own.id,
        ...(hidden !== undefined && !sameJson(hidden, value) && { hidden }),
      }
    })
}
