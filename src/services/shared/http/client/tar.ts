/** Builds tar archives for uploads. Uses plain bytes only, so that it also runs in browsers. */
import { AppError } from '#kernel'

const BLOCK = 512
const MAX_NAME = 100
const MAX_PREFIX = 155

/** Packs files by path, in their order. Throws `VALIDATION` for a path that this tar format cannot store. */
export function tarOf(files: ReadonlyMap<string, Uint8Array>): Uint8Array<ArrayBuffer> {
  const whole = [...files.values()].reduce((sum, { length }) => sum + BLOCK + padded(length), 2 * BLOCK)
  const tar = new Uint8Array(whole)
  let at = 0
  for (const [path, content] of files) {
    tar.set(headOf(path, content.length), at)
    tar.set(content, at + BLOCK)
    at += BLOCK + padded(content.length)
  }
  return tar
}

function padded(length: number): number {
  return Math.ceil(length / BLOCK) * BLOCK
}

function headOf(path: string, size: number): Uint8Array {
  const head = new Uint8Array(BLOCK)
  const write = (offset: number, text: string): void => head.set(new TextEncoder().encode(text), offset)
  const { name, prefix } = splitPath(path)
  write(0, name)
  write(100, '0000644\0')
  write(108, '0000000\0')
  write(116, '0000000\0')
  write(124, `${size.toString(8).padStart(11, '0')}\0`)
  write(136, '00000000000\0')
  // the checksum is computed with blanks in its place
  write(148, '        ')
  write(156, '0')
  write(257, 'ustar\0')
  write(263, '00')
  write(345, prefix)
  const sum = head.reduce((total, byte) => total + byte, 0)
  write(148, `${sum.toString(8).padStart(6, '0')}\0 `)
  return head
}

function splitPath(path: string): { readonly name: string; readonly prefix: string } {
  const bytes = (text: string): number => new TextEncoder().encode(text).length
  if (bytes(path) <= MAX_NAME) return { name: path, prefix: '' }
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
    const [prefix, name] = [path.slice(0, slash), path.slice(slash + 1)]
    if (bytes(name) <= MAX_NAME && bytes(prefix) <= MAX_PREFIX) return { name, prefix }
  }
  throw new AppError('VALIDATION', `"${path.slice(0, 200)}" is too long for a path in an archive`)
}
