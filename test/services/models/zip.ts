/** Builds zips for tests: valid ones from clients, and malicious ones. */
import { crc32, deflateRawSync } from 'node:zlib'

export interface ZipEntry {
  readonly path: string
  readonly content: Uint8Array
  /** Size that the zip claims; default: the real size */
  readonly saidSize?: number
  /** Upper half of the external attributes: the Unix file mode */
  readonly mode?: number
}

export function zipOf(files: Readonly<Record<string, Uint8Array | string>>): Uint8Array {
  return zipOfEntries(
    Object.entries(files).map(([path, content]) => ({
      path,
      content: typeof content === 'string' ? new TextEncoder().encode(content) : content,
    })),
  )
}

export function zipOfEntries(entries: readonly ZipEntry[]): Uint8Array {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const { path, content, saidSize = content.length, mode = 0o100644 } of entries) {
    const name = Buffer.from(path)
    const packed = deflateRawSync(content)
    // the fields from the version to the length of the name are equal in both headers
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(crc32(content), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(saidSize, 18)
    common.writeUInt16LE(name.length, 22)
    parts.push(Buffer.from('PK\x03\x04', 'latin1'), common, name, packed)
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(mode * 65_536, 6)
    rest.writeUInt32LE(at, 10)
    const writer = Buffer.from([20, 3])
    directory.push(Buffer.from('PK\x01\x02', 'latin1'), writer, common, rest, name)
    at += 4 + common.length + name.length + packed.length
  }
  const list = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(list.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...parts, list, end])
}
