/** A driver controlled by tests, and a seal for services. */
import { expect } from 'vitest'
import { Seal } from '../../../src/platform/seal.ts'
import type { ModelCall, ModelDriver, OpenModel } from '../../../src/services/models/driver.ts'

export const TEST_SEAL = new Seal(new Uint8Array(32).fill(1))

/** Returns the instances themselves, unless a test changes that. */
export class TestDriver implements ModelDriver {
  readonly name = 'test'
  opened = 0
  closed = 0
  open_: () => Promise<void> = () => Promise.resolve()
  call_: (call: ModelCall) => Promise<ModelCall['instances']> = ({ instances }) => Promise.resolve(instances)
  refusal: string | undefined

  refuses(): Promise<string | undefined> {
    return Promise.resolve(this.refusal)
  }
  async open(): Promise<OpenModel> {
    this.opened++
    await this.open_()
    const inputs = [{ type: 'number', shape: [2] }] as const
    return {
      signatures: [{ operation: 'predict', inputs }],
      warnings: [],
      call: (call) => this.call_(call),
      close: async () => void this.closed++,
    }
  }
  runtimes(): Promise<[]> {
    return Promise.resolve([])
  }
  close(): Promise<void> {
    return Promise.resolve()
  }
}

/** Matches an AppError with that code and message. */
export function refusal(code: string, message: RegExp): object {
  return { code, message: expect.stringMatching(message) as string }
}
