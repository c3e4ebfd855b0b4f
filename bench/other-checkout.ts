/** Another state of the code beside this one: a worktree in a temporary folder, measured by this bench. */
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { git } from './machine.ts'

export interface OtherCheckout {
  root: string
  /** the commit's full name */
  commit: string
  /** Takes the worktree away. */
  remove(): void
}

/** Throws with git's own words when there is no such ref. */
export function checkOut(root: string, ref: string): OtherCheckout {
  const commit = git(root, ['rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`])
  const folder = mkdtempSync(join(tmpdir(), 'bench-against-'))
  const other = join(folder, 'checkout')
  const remove = () => {
    rmSync(folder, { recursive: true, force: true })
    git(root, ['worktree', 'prune'])
  }
  try {
    git(root, ['worktree', 'add', '--detach', other, commit])
    symlinkSync(join(root, 'node_modules'), join(other, 'node_modules'), 'junction')
    // The same bench measures both, or a change of the bench would pass for one of the engine.
    rmSync(join(other, 'bench'), { recursive: true, force: true })
    const own = join(root, 'bench')
    cpSync(own, join(other, 'bench'), { recursive: true, filter: (path) => basename(path) !== 'node_modules' })
    const peers = join(own, 'node_modules')
    if (existsSync(peers)) symlinkSync(peers, join(other, 'bench', 'node_modules'), 'junction')
  } catch (error) {
    remove()
    throw error
  }
  return { root: other, commit, remove }
}
