/** Delegates to another collection; a base class for wrappers. */
import type { Collection, Document, Expectation, Write } from './contract.ts'

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
