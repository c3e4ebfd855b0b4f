/** What peers of other runtimes need of the machine. */
import { spawnSync } from 'node:child_process'
import { messageOf } from '../src/kernel/errors.ts'
import { buildEkuiper } from './ekuiper/ekuiper.ts'

interface Need {
  readonly tools: readonly string[]
  /** how each of them says its version */
  readonly asked: string
  /** Throws when what they are there for cannot be built with them. */
  build?(): void
}

const NEEDS = {
  java: { tools: ['javac', 'mvn'], asked: '-version' },
  ekuiper: { tools: ['go'], asked: 'version', build: buildEkuiper },
} as const satisfies Record<string, Need>

const known = new Map<string, boolean>()

/** Whether it is there; when it is not, says once that `peer` is left out. */
export function isThere(need: keyof typeof NEEDS, peer: string): boolean {
  const before = known.get(need)
  if (before !== undefined) return before
  const missing = missingOf(NEEDS[need])
  if (missing !== undefined) process.stderr.write(`bench: ${peer} is left out: ${missing}\n`)
  known.set(need, missing === undefined)
  return missing === undefined
}

function missingOf({ tools, asked, build }: Need): string | undefined {
  const missing = tools.filter((tool) => spawnSync(tool, [asked], { stdio: 'ignore' }).status !== 0)
  if (missing.length > 0) return `there is no ${missing.join(' and no ')}`
  try {
    build?.()
  } catch (error) {
    return messageOf(error)
  }
  return undefined
}
