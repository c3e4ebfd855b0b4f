/** A whole host in a process of its own, over a folder that outlives it, to be killed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { root } from '../support/repository.ts'
import { basic } from './sample-host.ts'

export interface HostProcess {
  readonly url: string
  /** the one key pair that it knows */
  readonly credentials: { readonly key: string; readonly secret: string }
  /** with that pair */
  readonly headers: { readonly authorization: string }
  readonly isKilled: boolean
  /** `kill -9`; resolves when it is gone */
  kill(): Promise<void>
}

export async function startHostProcess(folder: string): Promise<HostProcess> {
  const args = ['serve', '--port', '0', '--data', folder, '--key', 'k', '--secret', 's', '--rate-limit', '0', '--empty']
  const child = spawn(process.execPath, [join(root, 'src/host/cli.ts'), ...args, '--log-level', 'silent'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = once(child, 'close')
  let isKilled = false
  const kill = async (): Promise<void> => {
    isKilled = true
    child.kill('SIGKILL')
    await gone
  }
  child.stdout.setEncoding('utf8')
  for (let text = ''; ;) {
    const [more] = (await Promise.race([once(child.stdout, 'data'), gone.then(() => [])])) as unknown[]
    if (typeof more !== 'string') throw new Error('the host ended by itself')
    text += more
    const url = /listening on (\S+)\n/.exec(text)?.[1]
    if (url === undefined) continue
    return {
      url,
      credentials: { key: 'k', secret: 's' },
      headers: { authorization: basic('k', 's') },
      get isKilled() {
        return isKilled
      },
      kill,
    }
  }
}
