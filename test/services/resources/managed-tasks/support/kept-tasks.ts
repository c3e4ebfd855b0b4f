/** Managed tasks that survive their reconciler, with templates that appear and disappear. */
import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../../../../src/kernel/errors.ts'
import type { ManagedTasks, WantedTask } from '../../../../../src/services/resources/contract.ts'

export class KeptTasks implements ManagedTasks {
  readonly kept = new Map<string, WantedTask>()
  readonly missingTemplates = new Set<string>()
  /** Templates for which creating a task gets no answer, with the pending answers */
  readonly silentTemplates = new Map<string, (() => void)[]>()
  made = 0
  #number = 0

  async of(resources: readonly string[]): ReturnType<ManagedTasks['of']> {
    await setImmediate()
    return [...this.kept]
      .filter(([, task]) => resources.includes(task.resource))
      .map(([taskId, { resource, key, type }]) => ({ resource, key, type, taskId }))
  }

  async make(wanted: WantedTask): Promise<void> {
    await setImmediate()
    if (this.missingTemplates.has(wanted.templateName)) {
      throw new AppError('VALIDATION', `No template with name ${wanted.templateName}`)
    }
    const silent = this.silentTemplates.get(wanted.templateName)
    if (silent !== undefined) await new Promise<void>((resolve) => silent.push(resolve))
    this.made++
    this.kept.set(`t${this.#number++}`, wanted)
  }

  async remove(taskId: string): Promise<void> {
    await setImmediate()
    this.kept.delete(taskId)
  }

  /** `resource key` of each task, in order. */
  get names(): readonly string[] {
    return [...this.kept.values()].map(({ resource, key }) => `${resource} ${key}`).toSorted()
  }
}
