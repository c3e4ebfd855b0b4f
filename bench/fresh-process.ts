/** Takes a sample in a process of its own, because what a process did before bends what it measures later. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { SampleKind, SampleRequest, Samples } from './samples/sample.ts'

/** `root`: the folder of the checkout to measure. Rejects with the child's own words when it ends with anything but 0. */
export function sampleInFreshProcess<Kind extends SampleKind>(
  kind: Kind,
  request: Omit<SampleRequest<Kind>, 'kind'>,
  root: string,
): Promise<Samples[Kind]> {
  return new Promise((resolve, reject) => {
    const entry = join(root, 'bench', 'run.ts')
    const args = ['--expose-gc', entry, '--sample', JSON.stringify({ ...request, kind })]
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    let complaint = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text))
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) resolve(JSON.parse(output) as Samples[Kind])
      else reject(new Error(complaint.trim() || `the process ended with ${signal ?? code}`))
    })
  })
}
