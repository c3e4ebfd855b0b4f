/**
 * Keeps the members of groups in running tasks as the resources are.
 *
 * GROUPS-1 a change of members is an input of its task, so that a replay has the same members at the same place
 * GROUPS-2 once resources stop changing, exactly the matching resources are members of each group
 */
import type { Group, Ports } from '#core'
import { type Logger, messageOf } from '#kernel'
import type { DeterministicEngine, EngineSettings } from './deterministic-engine.ts'
import type { Input, Untimed } from './input.ts'

export interface GroupMembersDependencies {
  readonly deterministic: DeterministicEngine
  readonly members: NonNullable<Ports['members']>
  readonly logger: Logger | undefined
  send(input: Untimed<Extract<Input, { k: 'members' }>>): Promise<void>
}

/** Returns undefined on a host without resources. */
export function groupMembersOf(
  { ports, logger }: EngineSettings,
  deterministic: DeterministicEngine,
  send: GroupMembersDependencies['send'],
): GroupMembers | undefined {
  const members = ports?.members
  return members && new GroupMembers({ deterministic, members, logger, send })
}

/** Maximum number of members that one input names. */
const MAX_CHANGES = 10_000

export class GroupMembers {
  readonly #dependencies: GroupMembersDependencies
  /** Ids of tasks with groups; absent before all tasks were looked at once */
  #grouped: Set<string> | undefined
  #running: Promise<void> | undefined
  #isAgain = false

  constructor(dependencies: GroupMembersDependencies) {
    this.#dependencies = dependencies
  }

  /** Compares them once an input was applied after which tasks may have other groups. `done`: what `apply` returned. */
  refreshAfter(input: Input, done: unknown): void {
    if (input.k !== 'begin' && input.k !== 'change' && input.k !== 'resume') return
    const ids = input.k === 'resume' ? input.ts : [input.t]
    if (done instanceof Promise)
      void done.then(
        () => this.#refreshOf(ids),
        () => undefined,
      )
    else this.#refreshOf(ids)
  }

  /** Tasks without groups cost nothing. */
  #refreshOf(ids: readonly string[]): void {
    const grouped = ids.filter((id) => this.#hasGroups(id))
    if (grouped.length === 0) return
    for (const id of grouped) this.#grouped?.add(id)
    this.refresh()
  }

  #hasGroups(id: string): boolean {
    return (this.#dependencies.deterministic.engine.tasks.get(id)?.groups.length ?? 0) > 0
  }

  /** Compares the members of all groups with the resources, once for all calls that come while it does. */
  refresh(): void {
    if (this.#running !== undefined) {
      this.#isAgain = true
      return
    }
    this.#running = this.#refreshAll().finally(() => {
      this.#running = undefined
      if (!this.#isAgain) return
      this.#isAgain = false
      this.refresh()
    })
  }

  async #refreshAll(): Promise<void> {
    const { deterministic, logger } = this.#dependencies
    const { tasks } = deterministic.engine
    const answers = new Map<string, Promise<readonly string[]>>()
    this.#grouped ??= new Set([...tasks.keys()].filter((id) => this.#hasGroups(id)))
    for (const id of this.#grouped) {
      const task = tasks.get(id)
      if (task === undefined || task.groups.length === 0) this.#grouped.delete(id)
      if (task?.status !== 'running') continue
      for (const { key, group, members } of task.groups) {
        try {
          await this.#refresh(id, key, members, await this.#wanted(group, answers))
        } catch (error) {
          logger?.error(`the members of group ${key} of task ${id} are not known: ${messageOf(error)}`)
        }
      }
    }
  }

  /** Asks once for groups that are equal. */
  #wanted(group: Group, answers: Map<string, Promise<readonly string[]>>): Promise<readonly string[]> {
    if (group.resources !== undefined) return Promise.resolve(group.resources)
    const key = JSON.stringify(group)
    const known = answers.get(key) ?? Promise.resolve(this.#dependencies.members(group))
    answers.set(key, known)
    return known
  }

  async #refresh(id: string, g: string, members: ReadonlySet<string>, wanted: readonly string[]): Promise<void> {
    const { deterministic } = this.#dependencies
    const present = new Set(wanted)
    const changes = [
      ...[...members].filter((one) => !present.has(one)).map((one) => ({ id: one, joins: false })),
      ...wanted.filter((one) => !members.has(one)).map((one) => ({ id: one, joins: true })),
    ]
    const isEmpty = changes.length === 0 && wanted.length === 0 && !this.#warned.has(g + id)
    if (isEmpty) this.#warned.add(g + id)
    const about = { k: 'members', t: id, e: deterministic.epochOf(id), g } as const
    // An input without changes makes the task report that its group is empty.
    if (isEmpty) await this.#dependencies.send({ ...about, c: [] })
    for (let from = 0; from < changes.length; from += MAX_CHANGES)
      await this.#dependencies.send({ ...about, c: changes.slice(from, from + MAX_CHANGES) })
  }

  /** groups and tasks that were reported as empty */
  readonly #warned = new Set<string>()
}
