/** Delegates to another collection; base classes for wrappers. */
import type { Collection, Committed, Document, Expectation, Write } from './contract.ts'

export class WrappedCollection<D extends Document> implements Collection<D> {
  protected readonly inner: Collection<D>

  constructor(inner: Collection<D>) {
    this.inner = inner
  }

  get spec(): Collection<D>['spec'] {
    return this.inner.spec
  }

  get(id: string): ReturnType<Collection<D>['get']> {
    return this.inner.get(id)
  }

  getMany(ids: readonly string[]): ReturnType<Collection<D>['getMany']> {
    return this.inner.getMany(ids)
  }

  find(...question: Parameters<Collection<D>['find']>): ReturnType<Collection<D>['find']> {
    return this.inner.find(...question)
  }

  ids(...question: Parameters<Collection<D>['ids']>): ReturnType<Collection<D>['ids']> {
    return this.inner.ids(...question)
  }

  count(...question: Parameters<Collection<D>['count']>): Promise<number> {
    return this.inner.count(...question)
  }

  countBy(...question: Parameters<Collection<D>['countBy']>): ReturnType<Collection<D>['countBy']> {
    return this.inner.countBy(...question)
  }

  put(id: string, value: D, expect?: Expectation): Promise<number> {
    return this.inner.put(id, value, expect)
  }

  delete(id: string, expect?: Expectation): Promise<boolean> {
    return this.inner.delete(id, expect)
  }

  putting(id: string, value: D, expect?: Expectation): Write {
    return this.inner.putting(id, value, expect)
  }

  deleting(id: string, expect?: Expectation): Write {
    return this.inner.deleting(id, expect)
  }

  expecting(id: string, version: number): Write {
    return this.inner.expecting(id, version)
  }
}

/** Writes through one function, which may add to a commit. */
export class CommittedCollection<D extends Document> extends WrappedCollection<D> {
  readonly #commit: (writes: readonly Write[]) => Promise<Committed>

  constructor(inner: Collection<D>, commit: (writes: readonly Write[]) => Promise<Committed>) {
    super(inner)
    this.#commit = commit
  }

  override async put(id: string, value: D, expect?: Expectation): Promise<number> {
    const { results } = await this.#commit([this.putting(id, value, expect)])
    return results[0] ?? 0
  }

  override async delete(id: string, expect?: Expectation): Promise<boolean> {
    const { results } = await this.#commit([this.deleting(id, expect)])
    return results[0] === 1
  }
}
