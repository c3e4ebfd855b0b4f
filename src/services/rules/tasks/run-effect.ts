/** What an update means for the run of a task that goes on: the one place where this is decided. */
import type { PlugNode, Prepared } from '#core/spi'
import type { Lost } from '#core'
import { documentChanges } from '../document-changes.ts'

export interface RunEffect {
  /** `none`: no node can tell the difference; `change`: the run goes on under another rule; `begin`: it has to begin anew */
  readonly kind: 'none' | 'change' | 'begin'
  /** what nodes of a run that goes on lose */
  readonly lost: readonly Lost[]
}

const UNTOUCHED: RunEffect = { kind: 'none', lost: [] }
const ANEW: RunEffect = { kind: 'begin', lost: [] }

/**
 * `before`: what the run was made of; undefined when that cannot be made any more. `losses`: as the runner tells them,
 * undefined when no run is there that could go on.
 */
export async function effectOnRun(
  before: Prepared | undefined,
  after: Prepared,
  losses: () => Promise<readonly Lost[] | undefined>,
): Promise<RunEffect> {
  if (before === undefined) return ANEW
  if (documentChanges(whatRuns(before), whatRuns(after)).length === 0) return UNTOUCHED
  const lost = await losses()
  return lost === undefined ? ANEW : { kind: 'change', lost }
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
