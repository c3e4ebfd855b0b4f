/** Limits a key to its resources. */
import { AppError, type KeyResources, makeIssue, ownValue, shown } from '#kernel'

export interface NamedResource {
  /** path of the resource in the body */
  readonly path: string
  readonly resource: string
}

/** Returns the resource, if it exists. */
export type LookUp = (resource: string) => object | undefined | Promise<object | undefined>

/**
 * Throws `FORBIDDEN` with an issue for each resource that is not one of the key. Returns a promise only if a type must
 * be read.
 */
export function requireOwn(
  own: KeyResources,
  named: readonly NamedResource[],
  lookUp: LookUp,
): undefined | Promise<undefined> {
  const includes = inclusionOf(own, lookUp)
  const foreign: NamedResource[] = []
  const waiting: Promise<unknown>[] = []
  for (const one of named) {
    const isOwn = includes(one.resource)
    if (isOwn === false) foreign.push(one)
    else if (isOwn !== true) waiting.push(isOwn.then((is) => is || foreign.push(one)))
  }
  if (waiting.length > 0) return Promise.all(waiting).then(() => refuseForeign(foreign, own))
  return refuseForeign(foreign, own)
}

function inclusionOf(own: KeyResources, lookUp: LookUp): (resource: string) => boolean | Promise<boolean> {
  if ('ids' in own) return (resource) => own.ids.includes(resource)
  if ('prefix' in own) return (resource) => resource.startsWith(own.prefix)
  const isOfType = (found: object | undefined): boolean => ownValue(found, 'resourceTypeId') === own.resourceTypeId
  return (resource) => {
    const found = lookUp(resource)
    return found instanceof Promise ? found.then(isOfType) : isOfType(found)
  }
}

const MAX_ISSUES = 100

function refuseForeign(foreign: readonly NamedResource[], own: KeyResources): undefined {
  const [first] = foreign
  if (first === undefined) return undefined
  const right = `name one of ${textOf(own)}`
  const issues = foreign
    .toSorted((a, b) => a.path.localeCompare(b.path, 'en', { numeric: true }))
    .slice(0, MAX_ISSUES)
    .map(({ path, resource }) => makeIssue('RESOURCE', path, `${shown(resource)} is not a resource of this key`, right))
  const more = foreign.length > 1 ? ` and ${foreign.length - 1} more` : ''
  throw new AppError('FORBIDDEN', `${shown(first.resource)}${more} is not a resource of this key; ${right}`, { issues })
}

function textOf(own: KeyResources): string {
  if ('ids' in own) return `its resources: ${own.ids.slice(0, 10).join(', ')}${own.ids.length > 10 ? ' ...' : ''}`
  return 'prefix' in own ? `its resources, which begin with ${own.prefix}` : `the resource type ${own.resourceTypeId}`
}
