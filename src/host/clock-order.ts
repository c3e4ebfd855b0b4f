/**
 * Lets the operator order a host to follow the machine's clock, with a file in the data folder. The host removes the
 * file once it has complied.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unusable } from './data-folder.ts'

const NAME = 'clock.follow'
export const LOOK_MS = 1_000

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

export function orderFollowing(folder: string): void {
  try {
    writeFileSync(join(folder, NAME), '')
  } catch (error) {
    throw unusable(folder, error)
  }
}

export function isOrdered(folder: string): boolean {
  return existsSync(join(folder, NAME))
}

export function withdrawOrder(folder: string): void {
  rmSync(join(folder, NAME), { force: true })
}
