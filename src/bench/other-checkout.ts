/** Checks out another state of a repository to a worktree in a temporary folder. */
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { git } from './machine.ts'

export interface OtherCheckout {
  readonly root: string
  readonly commit: string
  there(path: string): string
  remove(): void
}

/** `same`: folders to take from the current state, whose changes must not affect the comparison */
export function checkOut(root: string, ref: string, same: readonly string[]): OtherCheckout {
  const commit = git(root, ['rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`])
  const folder = mkdtempSync(join(tmpdir(), 'bench-against-'))
  const other = join(folder, 'checkout')
  const remove = () => {
    rmSync(folder, { recursive: true, force: true })
    git(root, ['worktree', 'prune'])
  }
  try {
    git(root, ['worktree', 'add', '--detach', other, commit])
    for (const name of ['.', ...same]) {
      const modules = join(root, name, 'node_modules')
      if (name !== '.') takeOver(join(root, name), join(other, name))
      if (existsSync(modules)) symlinkSync(modules, join(other, name, 'node_modules'), 'junction')
    }
  } catch (error) {
    remove()
    throw error
  }
  const there = (path: string) => {
    const inside = relative(root, path)
    return inside === '' || inside.startsWith('..') ? path : join(other, inside)
  }
  return { root: other, commit, there, remove }
}

function takeOver(own: string, other: string): void {
  rmSync(other, { recursive: true, force: true })
  cpSync(own, other, { recursive: true, filter: (path) => basename(path) !== 'node_modules' })
}
