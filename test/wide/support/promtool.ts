/** Provides promtool, the tool of Prometheus: built once from the Go module proxy into the user's cache. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const VERSION = 'v0.316.0'
const BUILD_MS = 600_000

/** Returns the path of the program; undefined, with a notice, if it cannot be built. */
export function promtool(): string | undefined {
  const folder = join(homedir(), '.cache', 'reflexarc', `promtool-${VERSION}`)
  const program = join(folder, 'promtool')
  if (existsSync(program)) return program
  mkdirSync(folder, { recursive: true })
  try {
    const module = `github.com/prometheus/prometheus/cmd/promtool@${VERSION}`
    const env = { ...process.env, GOBIN: folder, GOFLAGS: '-mod=mod', CGO_ENABLED: '0' }
    execFileSync('go', ['install', module], { cwd: folder, env, timeout: BUILD_MS, stdio: 'ignore' })
    return program
  } catch {
    console.warn(`promtool ${VERSION} cannot be built from the Go module proxy: the tests of alert rules are skipped`)
    return undefined
  }
}
