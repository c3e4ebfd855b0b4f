/** What an update means for the run of a task that goes on: the one place where this is decided. */
import type { Prepared } from '../../core/engine/prepared.ts'
import type { PlugNode } from '../../core/rule/rule.ts'
import { documentChanges } from './document-changes.ts'

export interface RunEffect {
  /** `none`: no node can tell the difference, the run goes on; `change`: the run has to take up another rule */
  readonly kind: 'none' | 'change'
  /** labels of the nodes whose states, data, windows and cool-downs the run forgets */
  readonly lost: readonly string[]
}

const UNTOUCHED: RunEffect = { kind: 'none', lost: [] }

/** `before`: what the run was made of; undefined when that cannot be made any more. */
export function effectOnRun(before: Prepared | undefined, after: Prepared): RunEffect {
  if (before === undefined) return { kind: 'change', lost: labelsOf(after) }
  if (documentChanges(whatRuns(before), whatRuns(after)).length === 0) return UNTOUCHED
  // a run that takes up another rule begins anew
  return { kind: 'change', lost: labelsOf(before) }
}

function labelsOf({ rule }: Prepared): readonly string[] {
  const { sensors = [], relations = [], actuators = [] } = rule
  return [...sensors, ...relations, ...actuators].map(({ label }) => label)
}

/** The rule without what it is called, how it is drawn and what people write beside it. */
function whatRuns({ rule, overrides }: Prepared): object {
  const { sensors = [], actuators = [], relations = [], triggers = [], task = {} } = rule
  const { name: _name, tags: _tags, ...settings } = task
  return {
    sensors: sensors.map(whatNodeRuns),
    actuators: actuators.map(whatNodeRuns),
    relations: relations.map(({ position: _position, ...relation }) => relation),
    triggers,
    settings,
    overrides,
  }
}

function whatNodeRuns({ position: _position, description: _text, iconURL: _icon, ...node }: PlugNode): object {
  return node
}
