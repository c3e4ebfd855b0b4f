/** Stores objects of one tenant as files: written aside, synced and renamed, so the old or the new one is there. */
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { link, open, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, type KeyedMutex } from '#kernel'
import type { BlobInfo, Blobs } from '../blobs.ts'
import type { DamageWatch } from '../damage.ts'
import {
  checkByteRange,
  checkExpectedEtag,
  checkList,
  checkPath,
  checkPut,
  piecesOf,
  type CheckedPut,
} from '../check-blobs.ts'
import { pathPage } from '../path-page.ts'
import { codeOf, storeError } from './file-errors.ts'
import { folderAt, makeFolderAt, syncFolder } from './folders.ts'
import { contentCheck, openObject, readAt, readInfo, streamAt, writeObject } from './object-file.ts'
import { objectNames } from './object-name.ts'
import type { PathList } from './path-list.ts'

/** Objects up to this size are read whole, so that no file stays open for a reader that never reads. */
const READ_AT_ONCE = 262_144
/** number of files that one listing reads concurrently */
const READERS = 16

export interface FileHost {
  readonly root: string
  /** folder for unfinished files, on the same file system */
  readonly temporary: string
  /** epoch ms */
  readonly clock: () => number
  readonly damage: DamageWatch
  /** Runs a call that `close` waits for. Throws `CLOSED` after closing. */
  run<T>(act: () => Promise<T>): Promise<T>
  checkOpen(): void
}

export interface TenantFiles {
  readonly folder: string
  readonly paths: PathList
  readonly mutex: KeyedMutex
}

export class FileBlobs implements Blobs {
  readonly #host: FileHost
  readonly #tenant: TenantFiles

  constructor(host: FileHost, tenant: TenantFiles) {
    this.#host = host
    this.#tenant = tenant
  }

  async put(
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options?: Parameters<Blobs['put']>[2],
  ): Promise<BlobInfo> {
    this.#host.checkOpen()
    const checked = checkPut(path, options)
    const sent: Sent = { pieces: piecesOf(content), failure: undefined }
    return this.#host.run(() => this.#put(path, sent, checked))
  }

  async info(path: string): Promise<BlobInfo | undefined> {
    this.#host.checkOpen()
    checkPath(path)
    return this.#host.run(() => this.#info(path))
  }

  async get(path: string, range?: { readonly from: number; readonly until?: number }): ReturnType<Blobs['get']> {
    this.#host.checkOpen()
    checkPath(path)
    checkByteRange(range)
    const { from = 0, until = Infinity } = range ?? {}
    return this.#host.run(() => this.#get(path, from, until))
  }

  async copy(source: string, target: string): Promise<boolean> {
    this.#host.checkOpen()
    checkPath(source)
    checkPath(target)
    return this.#host.run(() => reading(`Copying ${source}`, () => this.#copy(source, target)))
  }

  async list(query: Parameters<Blobs['list']>[0]): Promise<readonly BlobInfo[]> {
    this.#host.checkOpen()
    const checked = checkList(query)
    return this.#host.run(async () => {
      const paths = await reading('The list of objects', () => this.#tenant.paths.inOrder(() => this.#folder([])))
      const page = pathPage(paths, checked)
      const infos: BlobInfo[] = []
      for (let at = 0; at < page.length; at += READERS) {
        const some = await Promise.all(page.slice(at, at + READERS).map((path) => this.#info(path)))
        // skips objects deleted meanwhile
        infos.push(...some.filter((info) => info !== undefined))
      }
      return infos
    })
  }

  async delete(path: string): Promise<boolean> {
    this.#host.checkOpen()
    checkPath(path)
    return this.#host.run(() =>
      this.#tenant.mutex.run(path, () => reading(`Deleting ${path}`, () => this.#delete(path))),
    )
  }

  async #put(path: string, sent: Sent, checked: CheckedPut): Promise<BlobInfo> {
    const temporary = join(this.#host.temporary, randomUUID())
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
    const handle = await reading(`Writing ${path}`, () => open(temporary, flags, 0o600))
    try {
      let info: BlobInfo
      try {
        info = await writeObject(handle, path, this.#receive(sent), checked, this.#host.clock)
      } finally {
        await handle.close()
      }
      await this.#tenant.mutex.run(path, () => this.#publish(path, temporary, checked.expect))
      return info
    } catch (thrown) {
      await unlink(temporary).catch(() => undefined)
      // errors of the incoming stream are passed on unchanged
      throw sent.failure === thrown ? thrown : storeError(`Writing ${path}`, thrown)
    }
  }

  /** Moves a finished file into place, unless the current object is not the expected one. */
  async #publish(path: string, temporary: string, expect: string | undefined): Promise<void> {
    if (expect !== undefined) checkExpectedEtag(path, expect, (await this.#info(path))?.etag)
    const { folders, file } = objectNames(path)
    const folder = await makeFolderAt(this.#host.root, [this.#tenant.folder, ...folders])
    await rename(temporary, join(folder, file))
    this.#tenant.paths.changed(path, true)
    await syncFolder(folder)
  }

  /** Copies by hard link. Files are never changed in place, so the two objects stay independent. */
  async #copy(source: string, target: string): Promise<boolean> {
    if (source === target) return (await this.#info(source)) !== undefined
    const { folders, file } = objectNames(source)
    const folder = await this.#folder(folders)
    if (folder === undefined) return false
    const temporary = join(this.#host.temporary, randomUUID())
    try {
      await link(join(folder, file), temporary)
    } catch (thrown) {
      if (codeOf(thrown) === 'ENOENT') return false
      throw thrown
    }
    try {
      await this.#tenant.mutex.run(target, () => this.#publish(target, temporary, undefined))
    } finally {
      // renaming onto another link of the same file keeps both names
      await unlink(temporary).catch(() => undefined)
    }
    return true
  }

  async #delete(path: string): Promise<boolean> {
    const { folders, file } = objectNames(path)
    const folder = await this.#folder(folders)
    if (folder === undefined) return false
    try {
      await unlink(join(folder, file))
    } catch (thrown) {
      if (codeOf(thrown) === 'ENOENT') return false
      throw thrown
    }
    this.#tenant.paths.changed(path, false)
    await syncFolder(folder)
    return true
  }

  async #info(path: string): Promise<BlobInfo | undefined> {
    return reading(`Reading ${path}`, async () => {
      const handle = await this.#open(path)
      if (handle === undefined) return undefined
      try {
        return await readInfo(handle, path)
      } finally {
        await handle.close()
      }
    })
  }

  async #get(path: string, from: number, until: number): ReturnType<Blobs['get']> {
    return reading(`Reading ${path}`, async () => {
      const handle = await this.#open(path)
      if (handle === undefined) return undefined
      try {
        const info = await readInfo(handle, path)
        const end = Math.min(until + 1, info.size)
        if (end - from > READ_AT_ONCE) return { info, content: this.#later(info, from, end) }
        const bytes = await readAt(handle, from, end)
        if (bytes.length === info.size) contentCheck(info)(bytes)
        return { info, content: atOnce(bytes) }
      } finally {
        await handle.close()
      }
    })
  }

  /** Yields a content that is opened on the first read. Throws `CONFLICT` when the object was replaced meanwhile. */
  async *#later(info: BlobInfo, from: number, end: number): AsyncIterable<Uint8Array> {
    const { path, etag } = info
    const handle = await reading(`Reading ${path}`, async () => {
      this.#host.checkOpen()
      const opened = await this.#open(path)
      if (opened === undefined) throw replaced(path)
      try {
        if ((await readInfo(opened, path)).etag === etag) return opened
      } catch (thrown) {
        await opened.close()
        throw thrown
      }
      await opened.close()
      throw replaced(path)
    })
    const check = end - from === info.size ? contentCheck(info) : undefined
    try {
      for await (const piece of streamAt(handle, from, end)) {
        check?.(piece)
        yield piece
      }
    } catch (thrown) {
      this.#host.damage.note(thrown)
      throw storeError(`Reading ${path}`, thrown)
    }
  }

  async #open(path: string): Promise<Awaited<ReturnType<typeof openObject>>> {
    const { folders, file } = objectNames(path)
    const folder = await this.#folder(folders)
    return folder === undefined ? undefined : openObject(join(folder, file))
  }

  #folder(names: readonly string[]): Promise<string | undefined> {
    return folderAt(this.#host.root, [this.#tenant.folder, ...names])
  }

  /** Receives a content piece by piece, so that a slow stream does not delay closing. */
  async *#receive(sent: Sent): AsyncIterable<Uint8Array> {
    try {
      for await (const piece of sent.pieces) {
        this.#host.checkOpen()
        yield piece
      }
    } catch (thrown) {
      sent.failure = thrown
      throw thrown
    }
  }
}

interface Sent {
  readonly pieces: ReturnType<typeof piecesOf>
  failure: unknown
}

async function reading<T>(doing: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (thrown) {
    throw storeError(doing, thrown)
  }
}

async function* atOnce(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  if (bytes.length > 0) yield bytes
}

function replaced(path: string): AppError {
  return new AppError('CONFLICT', `The object ${path} was replaced or deleted before it was read; read it again`)
}
