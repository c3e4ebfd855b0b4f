/** Names of the things that calls touch, so that calls on one thing keep their order. */
import { seedOf } from '#kernel'
import { parseResource } from '../language/placeholders/resource.ts'
import type { TouchContext } from './plug.ts'

/** Groups that the things of a kind fall into. */
const GROUPS = 64

/**
 * What a call touches, for `touches`: the thing as `kind:name`, and the group that it falls into. A call that cannot
 * tell which thing it is about (`undefined`) touches all groups, so that it keeps its place among all calls of the kind.
 */
export function touching(kind: string, thing: string | undefined): readonly string[] {
  if (thing !== undefined) return [`${kind}:${thing}`, groupOf(kind, seedOf(thing) % GROUPS)]
  return Array.from({ length: GROUPS }, (_, group) => groupOf(kind, group))
}

function groupOf(kind: string, group: number): string {
  return `${kind}#${group}`
}

/** What a call about a resource touches: `resource:<id>`. */
export function touchingResource(named: string | undefined, context: TouchContext): readonly string[] {
  return touching('resource', touchedResource(named, context))
}

/** What a call about the alarms of a source and type touches: `alarm:<source>/<type>`. */
export function touchingAlarm(named: string | undefined, type: string, context: TouchContext): readonly string[] {
  const source = touchedResource(named, context)
  return touching('alarm', source === undefined ? undefined : `${source}/${type}`)
}

/**
 * The resource that a call is about (`resourceOf`), as far as it can be told before the call; undefined when it stands
 * in a variable of the task, and for `$`, because a node may have another resource than its task.
 */
function touchedResource(named: string | undefined, context: TouchContext): string | undefined {
  if (named === undefined || named === '') return context.resource
  try {
    const spec = parseResource(named)
    if (spec.kind === 'literal') return spec.id
    return spec.kind === 'taskId' ? context.taskId : undefined
  } catch {
    // the call will say what is wrong with it
    return undefined
  }
}
