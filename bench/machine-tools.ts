/** What peers of other runtimes need of the machine. */
import { spawnSync } from 'node:child_process'

const TOOLS = { java: ['javac', 'mvn'] } as const

const known = new Map<string, boolean>()

/** Whether it is there; when it is not, says once that `peer` is left out. */
export function isThere(need: keyof typeof TOOLS, peer: string): boolean {
  const before = known.get(need)
  if (before !== undefined) return before
  const missing = TOOLS[need].filter((tool) => spawnSync(tool, ['-version'], { stdio: 'ignore' }).status !== 0)
  if (missing.length > 0) process.stderr.write(`bench: ${peer} is left out: there is no ${missing.join(' and no ')}\n`)
  known.set(need, missing.length === 0)
  return missing.length === 0
}
