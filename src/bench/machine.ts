/** Describes the origin of figures: machine, version and state of the code. */
import { execFileSync } from 'node:child_process'
import { arch, cpus, platform, release, totalmem } from 'node:os'

export interface Origin {
  machine: { cpu: string; cores: number; memory: number; system: string }
  node: string
  /** time on this machine, ISO 8601 */
  date: string
  /** absent outside a git checkout; followed by `+` with local changes */
  commit?: string
}

export function originOf(root: string): Origin {
  const all = cpus()
  const commit = commitOf(root)
  return {
    machine: {
      cpu: all[0]?.model ?? 'unknown',
      cores: all.length,
      memory: totalmem(),
      system: `${platform()} ${release()} ${arch()}`,
    },
    node: process.version,
    date: new Date().toISOString(),
    ...(commit !== undefined && { commit }),
  }
}

function commitOf(root: string): string | undefined {
  try {
    const changed = git(root, ['status', '--porcelain', '--untracked-files=no']) !== ''
    return git(root, ['rev-parse', 'HEAD']) + (changed ? '+' : '')
  } catch {
    return undefined
  }
}

export function git(root: string, args: readonly string[]): string {
  return execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
}
