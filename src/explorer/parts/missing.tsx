/** Shown instead of a page whose market or event is not stored. */
export function Missing({ what, id }: { what: 'market' | 'event'; id: string }) {
  return (
    <section class="panel panel-body missing">
      <h1>No such {what}</h1>
      <p>
        This service stores no {what} <bdi>{id}</bdi>. It may be listed under another id, or not be listed yet.
      </p>
      <p>
        <a href="/">Search the list of markets</a>
      </p>
    </section>
  );
}
