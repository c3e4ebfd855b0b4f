/**
 * The operator's order that a host follow the clock of its machine: a file in its data folder, which whoever may write
 * there can make. The host takes it away when it has done so.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unusable } from './data-folder.ts'

const NAME = 'clock.follow'
/** ms between two looks for an order */
export const LOOK_MS = 1_000

/** Looks for orders until it is called off, which it gives. */
export function followOnOrder(
  folder: string,
  follow: () => void,
  every: (ms: number, work: () => void) => () => void,
): () => void {
  return every(LOOK_MS, () => {
    if (!isOrdered(folder)) return
    follow()
    withdrawOrder(folder)
  })
}

/** `STORE` when it cannot be written. */
export function orderFollowing(folder: string): void {
  try {
    writeFileSync(join(folder, NAME), '')
  } catch (error) {
    throw unusable(folder, error)
  }
}

/** Whether an order waits for its host. */
export function isOrdered(folder: string): boolean {
  return existsSync(join(folder, NAME))
}

export function withdrawOrder(folder: string): void {
  rmSync(join(folder, NAME), { force: true })
}
