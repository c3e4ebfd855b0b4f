/** Stores inputs in plain lists: a naive model, and a source for tests of readers. */
import type {
  InputCheckpoint,
  InputRange,
  KeptInput,
  KeptInputs,
  KeptSince,
} from '../../../../src/services/rules/inputs/contract.ts'
import { selectInput } from '../../../../src/services/rules/inputs/select-input.ts'

const BATCH = 100

export class MemoryInputs implements KeptInputs {
  readonly inputs: KeptInput[] = []
  readonly checkpoints: InputCheckpoint[] = []

  get source(): never {
    throw new Error('a list has no segments')
  }

  since(): Promise<KeptSince | undefined> {
    const first = this.inputs[0]
    return Promise.resolve(first && { position: first.position, at: first.input.at })
  }

  async *read(range: InputRange, signal?: AbortSignal): AsyncGenerator<readonly KeptInput[], undefined> {
    for (let i = 0; i < this.inputs.length; i += BATCH) {
      signal?.throwIfAborted()
      const batch = this.inputs.slice(i, i + BATCH).flatMap((one) => selectInput(one, range) ?? [])
      if (batch.length > 0) yield await Promise.resolve(batch)
    }
  }

  checkpoint(
    task: string,
    before: { readonly at: number } | { readonly position: number },
  ): Promise<InputCheckpoint | undefined> {
    const isBefore = (one: InputCheckpoint) => ('at' in before ? one.at <= before.at : one.position <= before.position)
    return Promise.resolve(this.checkpoints.findLast((one) => one.task.id === task && isBefore(one)))
  }
}
