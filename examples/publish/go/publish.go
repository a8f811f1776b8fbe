// Asks for a change and prints the verdict. franz-go chooses partitions as Java does.
//
//	go run . 127.0.0.1:9092 http://127.0.0.1:8081 clicks '{"tasks": 4}'
package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/hamba/avro/v2"
	"github.com/twmb/franz-go/pkg/kgo"
)

// answer is what the registry says of a schema.
type answer struct {
	Id     int    `json:"id"`
	Schema string `json:"schema"`
}

func ask(url string) (answer, avro.Schema) {
	response, err := http.Get(url)
	check(err)
	defer response.Body.Close()
	var found answer
	check(json.NewDecoder(response.Body).Decode(&found))
	// Each message has a cache of its own: types of different schemas share names.
	schema, err := avro.ParseWithCache(found.Schema, "", &avro.SchemaCache{})
	check(err)
	return found, schema
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	broker, registry, job, set := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	client, err := kgo.NewClient(
		kgo.SeedBrokers(broker),
		kgo.ConsumeTopics("turbine.outcomes.v1"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
	)
	check(err)
	defer client.Close()

	// Ask for the change: the schema's id in four bytes behind a 0, then Avro.
	found, schema := ask(registry + "/subjects/turbine.changes.v1.ConfigChangeProposed/versions/latest")
	change := fmt.Sprintf("%d.%s", time.Now().UnixMilli()+300_000, rand.Text())
	body, err := avro.Marshal(schema, map[string]any{
		"change_id": change, "job": job, "author": "somebody", "set_json": set,
	})
	check(err)
	value := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(found.Id)), body...)
	asked := &kgo.Record{Topic: "turbine.changes.base.v1", Key: []byte(job), Value: value}
	check(client.ProduceSync(context.Background(), asked).FirstErr())

	// Follow what is decided, by whichever schema each record was written with.
	for {
		fetches := client.PollFetches(context.Background())
		check(fetches.Err())
		for _, record := range fetches.Records() {
			headers := map[string]string{}
			for _, header := range record.Headers {
				headers[header.Key] = string(header.Value)
			}
			if headers["ce_causationid"] != change {
				continue
			}
			_, schema := ask(fmt.Sprintf("%s/schemas/ids/%d", registry, binary.BigEndian.Uint32(record.Value[1:])))
			var verdict map[string]any
			check(avro.Unmarshal(schema, record.Value[5:], &verdict))
			text, err := json.Marshal(verdict)
			check(err)
			fmt.Println(strings.TrimPrefix(headers["ce_type"], "turbine."), string(text))
			return
		}
	}
}
