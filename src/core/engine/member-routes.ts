/** Tracks which resources are routed to a task because they are members of its groups, or wait to join. */
import type { MemberChange } from '../task/members/change.ts'
import type { TaskState } from '../task/task-state.ts'

const NONE: ReadonlySet<string> = new Set()

export interface MemberRouter {
  joined(member: string): void
  left(member: string): void
}

export class MemberRoutes {
  /** ids by group */
  readonly #lists: readonly Set<string>[]

  constructor(groups: number) {
    this.#lists = Array.from({ length: groups }, () => new Set<string>())
  }

  /** Returns the routes of a restored state, including members that wait to join. */
  static of({ groups, waiting }: TaskState): MemberRoutes {
    const routes = new MemberRoutes(groups.length)
    for (const [group, { members }] of groups.entries()) for (const id of members.keys()) routes.#lists[group]?.add(id)
    for (const { input } of waiting) {
      if (input.kind !== 'members') continue
      for (const { id, joins } of input.changes.slice(input.from)) {
        if (joins) routes.#lists[input.group]?.add(id)
        else routes.#lists[input.group]?.delete(id)
      }
    }
    return routes
  }

  of(group: number): ReadonlySet<string> {
    return this.#lists[group] ?? NONE
  }

  /** Returns the ids of all groups, each once. */
  all(): ReadonlySet<string> {
    const [only, another] = this.#lists
    return only !== undefined && another === undefined ? only : new Set(this.#lists.flatMap((one) => [...one]))
  }

  change(group: number, changes: readonly MemberChange[], router: MemberRouter): void {
    const members = this.#lists[group]
    if (members === undefined) return
    for (const { id, joins } of changes) {
      if (joins) {
        members.add(id)
        router.joined(id)
      } else if (members.delete(id) && !this.#lists.some((one) => one.has(id))) router.left(id)
    }
  }
}
