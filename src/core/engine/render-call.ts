/** Creates the properties of an acting call once, when it fires, and never throws. */
import type { Needs } from '../language/placeholders/scope.ts'
import { actsWith } from '../plug/acts-with.ts'
import { failedAnswer } from '../plug/call-error.ts'
import { finishProperties } from '../plug/properties.ts'
import type { BadAnswer } from '../plug/result.ts'
import { ownResourceFor, resourceFor, type TaskRun } from '../task/run.ts'
import type { Execution } from '../task/state.ts'
import { CallContext, type Fetched } from './call-context.ts'
import { needsPorts, fetchNeeds, isPromise, loopItems, settle, type Caller } from './call-plug.ts'
import { secretName } from './secret-names.ts'

type Properties = Readonly<Record<string, unknown>>

export interface Rendered {
  readonly ok: true
  /** properties for each item, or for the only call; empty: the loop has no items */
  readonly rendered: readonly Properties[]
  readonly items?: readonly unknown[]
  readonly touches: readonly string[]
}

export function isRendered(reply: { readonly ok: boolean }): reply is Rendered {
  return 'rendered' in reply
}

export function renderCall(
  run: TaskRun,
  execution: Execution,
  caller: Caller,
): Rendered | BadAnswer | Promise<Rendered | BadAnswer> {
  try {
    const { needs } = execution.node.call
    const { rendered } = execution
    if (rendered !== null) return remainder(run, execution, rendered)
    const fetched = needs === undefined ? {} : fetchNeeds(run, execution, caller, withoutSecrets(needs))
    if (isPromise(fetched)) return settle(fetched.then((data) => render(run, execution, caller, data)))
    return render(run, execution, caller, fetched)
  } catch (error) {
    return failedAnswer(error)
  }
}

/** Whether the ports are needed; not for secrets, since the properties hold only their names. */
export function renderingNeedsPorts(run: TaskRun, execution: Execution, caller: Caller): boolean {
  const { needs } = execution.node.call
  return needs !== undefined && execution.rendered === null && needsPorts(run, execution, caller, withoutSecrets(needs))
}

function withoutSecrets(needs: Needs): Needs {
  return { ...needs, secrets: [] }
}

function render(run: TaskRun, execution: Execution, caller: Caller, fetched: Fetched): Rendered {
  const { node } = execution
  const { loop, needs } = node.call
  const { compiled, constant } = run.model.properties.of(node.call)
  const secrets = new Map(needs?.secrets.map((key) => [key, secretName(key)]))
  const seen = caller.seenBy(execution) ?? run
  const context = new CallContext(seen, execution, caller, { ...fetched, secrets })
  const items = loop === undefined ? undefined : loopItems(loop.evaluate(context))
  const evaluate = (): Properties => constant ?? compiled.evaluate(context)
  const rendered = items === undefined ? [evaluate()] : items.map((item) => context.forItem(item, evaluate))
  const touches = rendered.flatMap((one) => touchesOf(run, execution, one))
  return items === undefined ? { ok: true, rendered, touches } : { ok: true, rendered, items, touches }
}

/** Cuts the properties down to the remaining items, for a sensor that waited between two items of its loop. */
function remainder(run: TaskRun, execution: Execution, rendered: readonly Properties[]): Rendered {
  const left = rendered.slice(execution.item)
  const touches = left.flatMap((one) => touchesOf(run, execution, one))
  return { ok: true, rendered, ...(execution.items && { items: execution.items }), touches }
}

function touchesOf(run: TaskRun, execution: Execution, rendered: Properties): readonly string[] {
  const { node, member } = execution
  const { plug, unordered } = node.call
  if (unordered) return []
  const { properties } = finishProperties(plug, rendered)
  if (properties !== undefined && node.kind === 'sensor' && !actsWith(plug, properties)) return []
  const keys = [member === null ? `node:${node.label}` : `node:${node.label}/${member}`]
  // Invalid properties are reported by the call itself.
  if (properties === undefined || plug.touches === undefined) return keys
  const resource = resourceFor(run, execution) ?? ownResourceFor(run, execution)
  try {
    return plug.touches(properties, { taskId: run.model.id, resource })
  } catch {
    return keys
  }
}
