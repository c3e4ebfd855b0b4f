/** Holds the rights of the tasks that may not do everything. */
import type { Rights } from '#kernel'

export class TaskRights {
  readonly #ofTask = new Map<string, Rights>()
  /** One object for all equal rights */
  readonly #shared = new Map<string, Rights>()

  of(task: string): Rights | undefined {
    return this.#ofTask.get(task)
  }

  /** Call before the task runs. Returns a function that restores the former rights. */
  set(task: string, rights: Rights | undefined): () => void {
    const former = this.#ofTask.get(task)
    if (rights === undefined) this.#ofTask.delete(task)
    else {
      const text = JSON.stringify(rights)
      const shared = this.#shared.get(text) ?? rights
      this.#shared.set(text, shared)
      this.#ofTask.set(task, shared)
    }
    return () => void this.set(task, former)
  }
}
